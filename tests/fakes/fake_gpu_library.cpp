// libcuda.so.1, libcupti.so and libnvidia-ml.so.1 of the fake GPU, so that a whole worker process can be tried without
// one. What a kernel does is in its name: "spin", "fault", "lose", "print", "honest", and "escape", which tries what a
// confined process must not be able to do and prints what came of it.
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>

#include "tests/fakes/fake_driver.h"

namespace onelaunch::fakes {
namespace {

std::string try_to_escape() {
  const auto outcome = [](const char* what, long result) {
    return std::string(what) + (result >= 0 ? ": done\n" : errno == EPERM || errno == EACCES ? ": denied\n" : ": failed\n");
  };
  std::string text = outcome("read a file", ::open("/etc/passwd", O_RDONLY));
  text += outcome("write a file", ::open("escaped", O_WRONLY | O_CREAT, 0600));
  text += outcome("connect", ::socket(AF_INET, SOCK_STREAM, 0));
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  text += outcome("fork", child);
  char name[] = "sh";
  char* arguments[] = {name, nullptr};
  text += outcome("execute", ::execv("/bin/sh", arguments));
  text += outcome("signal the host", ::kill(::getppid(), 0));
  pthread_t thread;
  const auto nothing = [](void*) -> void* { return nullptr; };
  const bool threads = ::pthread_create(&thread, nullptr, nothing, nullptr) == 0 && ::pthread_join(thread, nullptr) == 0;
  return text + "start a thread: " + (threads ? "done\n" : "denied\n");
}

FakeDriver& gpu() {
  static FakeDriver* const one = [] {
    auto* fake = new FakeDriver;  // outlives whoever calls the driver last
    fake->printer = 1;
    fake->on_launch = [fake](const FakeLaunch& launch) {
      if (launch.kernel == "spin") fake->hang();
      if (launch.kernel == "fault") fake->fault(CUDA_ERROR_ILLEGAL_ADDRESS);
      if (launch.kernel == "lose") fake->fault(CUDA_ERROR_ECC_UNCORRECTABLE);
      if (launch.kernel == "escape") fake->print(try_to_escape());
      if (launch.kernel == "print") fake->print("all work and no play\n");
      return CUDA_SUCCESS;
    };
    return fake;
  }();
  return *one;
}

}  // namespace
}  // namespace onelaunch::fakes

// Each symbol is bound, when it is looked up, to the function of the same name in the fake's table.
#define OL_STRING(name) #name
#define OL_SYMBOL(name) OL_STRING(name)
using AnyFunction = void (*)();
#define OL_EXPORT(id, symbol, function)                                                                              \
  extern "C" AnyFunction resolve_##id() { return reinterpret_cast<AnyFunction>(onelaunch::fakes::gpu().function); } \
  extern "C" void exported_##id() asm(symbol) __attribute__((ifunc("resolve_" #id), visibility("default")));

#define OL_DRIVER(name) OL_EXPORT(name, OL_SYMBOL(name), driver().name)
OL_DRIVER_FUNCTIONS(OL_DRIVER)
#define OL_CUPTI(name) OL_EXPORT(name, #name, cupti().name)
OL_CUPTI_FUNCTIONS(OL_CUPTI)

OL_EXPORT(nvml_init, "nvmlInit_v2", nvml().init)
OL_EXPORT(nvml_shutdown, "nvmlShutdown", nvml().shutdown)
OL_EXPORT(nvml_by_uuid, "nvmlDeviceGetHandleByUUID", nvml().by_uuid)
OL_EXPORT(nvml_clock, "nvmlDeviceGetClockInfo", nvml().clock)
OL_EXPORT(nvml_power, "nvmlDeviceGetPowerUsage", nvml().power)
OL_EXPORT(nvml_temperature, "nvmlDeviceGetTemperature", nvml().temperature)
OL_EXPORT(nvml_reasons, "nvmlDeviceGetCurrentClocksThrottleReasons", nvml().reasons)
OL_EXPORT(nvml_driver_version, "nvmlSystemGetDriverVersion", nvml().driver_version)
OL_EXPORT(nvml_mig_mode, "nvmlDeviceGetMigMode", nvml().mig_mode)
OL_EXPORT(nvml_persistence_mode, "nvmlDeviceGetPersistenceMode", nvml().persistence_mode)
OL_EXPORT(nvml_ecc_errors, "nvmlDeviceGetTotalEccErrors", nvml().ecc_errors)
OL_EXPORT(nvml_processes, "nvmlDeviceGetComputeRunningProcesses_v3", nvml().processes)
