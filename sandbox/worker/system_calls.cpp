#include "sandbox/worker/system_calls.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>
#include <vector>

namespace onelaunch::worker {
namespace {

#if defined(__x86_64__)
constexpr std::uint32_t kArchitecture = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr std::uint32_t kArchitecture = AUDIT_ARCH_AARCH64;
#endif

constexpr std::uint32_t kAllowed[] = {
    SYS_brk, SYS_mmap, SYS_munmap, SYS_mprotect, SYS_mremap, SYS_madvise,                  // memory
    SYS_clock_gettime, SYS_clock_nanosleep, SYS_nanosleep, SYS_sched_yield,                // time
    SYS_futex, SYS_ppoll, SYS_restart_syscall,                                             // waiting
#if defined(SYS_poll)
    SYS_poll,
#endif
    SYS_read, SYS_write, SYS_recvmsg, SYS_sendmsg, SYS_close, SYS_fcntl, SYS_fstat, SYS_lseek,  // existing descriptors
    SYS_clone, SYS_set_robust_list, SYS_sched_getaffinity, SYS_getpid, SYS_gettid,         // threads
#if defined(SYS_clone3)
    SYS_clone3,
#endif
#if defined(SYS_rseq)
    SYS_rseq,
#endif
    SYS_rt_sigaction, SYS_rt_sigprocmask, SYS_rt_sigreturn, SYS_sigaltstack, SYS_tgkill,   // crashing properly
    SYS_getrandom, SYS_exit, SYS_exit_group,
};

// What the driver and NVML do with descriptors that they have; candidate code runs on the GPU and calls nothing here.
constexpr std::uint32_t kAllowedForGpu[] = {
    SYS_ioctl, SYS_pipe2, SYS_eventfd2, SYS_getuid, SYS_geteuid, SYS_getegid, SYS_getgid, SYS_sched_setaffinity, SYS_uname,
    SYS_sysinfo, SYS_prctl, SYS_dup, SYS_pread64,
};

}  // namespace

bool keep_few_system_calls(Device device) {
  const auto jump = [](std::uint32_t value, std::uint8_t matches, std::uint8_t differs) {
    return sock_filter{BPF_JMP | BPF_JEQ | BPF_K, matches, differs, value};
  };
  const auto load = [](std::uint32_t offset) { return sock_filter{BPF_LD | BPF_W | BPF_ABS, 0, 0, offset}; };
  const auto answer = [](std::uint32_t action) { return sock_filter{BPF_RET | BPF_K, 0, 0, action}; };
  std::vector<sock_filter> filter{load(offsetof(seccomp_data, arch)), jump(kArchitecture, 1, 0), answer(SECCOMP_RET_KILL_PROCESS),
                                  load(offsetof(seccomp_data, nr))};
  const auto allow = [&](std::uint32_t call) {
    filter.push_back(jump(call, 0, 1));
    filter.push_back(answer(SECCOMP_RET_ALLOW));
  };
  for (const std::uint32_t call : kAllowed) allow(call);
  if (device == Device::gpu)
    for (const std::uint32_t call : kAllowedForGpu) allow(call);
  filter.push_back(answer(SECCOMP_RET_ERRNO | EPERM));
  const sock_fprog program{static_cast<unsigned short>(filter.size()), filter.data()};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program) == 0;
}

}  // namespace onelaunch::worker
