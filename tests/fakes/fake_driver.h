#pragma once
// A GPU made of host memory: driver, NVML and CUPTI as tables of functions that note what they are called for. Kernels
// are names in the text of a module, and do what on_launch says, at once. One at a time in a process: the driver's
// functions carry no pointer to whom they belong. One thread.

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "sandbox/cuda/activity.h"
#include "sandbox/cuda/driver.h"
#include "sandbox/cuda/nvml.h"

namespace onelaunch::fakes {

struct FakeLaunch {
  std::string kernel;
  unsigned grid = 0, block = 0, dynamic_smem = 0, cluster = 1;
  bool cooperative = false;
  std::vector<std::uint64_t> words;    // of its parameters
};

class FakeDriver {
 public:
  FakeDriver();
  ~FakeDriver();
  FakeDriver(const FakeDriver&) = delete;
  FakeDriver& operator=(const FakeDriver&) = delete;

  cuda::Driver driver() const;
  cuda::NvmlFunctions nvml() const;
  cuda::CuptiFunctions cupti() const;

  // ---- how it is ----
  int version = CUDA_VERSION, devices = 1;
  std::string name = "Fake GPU";
  std::map<CUdevice_attribute, int> attributes;
  std::uint64_t memory_bytes = 64 << 20;
  int blocks_that_fit = 2, clusters_that_fit = 3;  // blocks: on one multiprocessor
  std::map<std::string, CUresult> failing;         // calls that fail, by name
  unsigned mig = 0, persistence = 1;
  bool nvml_knows_only_instances = false;
  unsigned long long throttle_reasons = 1, uncorrected_errors = 0;
  std::vector<unsigned> processes;
  std::uint32_t cupti_version = CUPTI_API_VERSION;
  bool cupti_records = true;
  std::size_t cupti_dropped = 0;
  int printer = -1;                                // descriptor that gets what kernels print

  // What a launch does: its result is that of the launch call. May call fault(), print(), hang().
  std::function<CUresult(const FakeLaunch&)> on_launch;
  std::function<void()> on_query;                  // at each look whether the stream is idle
  void fault(CUresult result) { sticky_ = result; }
  void print(const std::string& text) { to_print_ += text; }
  void hang() { hangs_ = true; }

  // ---- what happened ----
  // In this order: "cuInit", "launch megakernel", "capture megakernel", "launch megakernel behind the gate".
  std::vector<std::string> calls;
  std::vector<FakeLaunch> launches;
  std::map<CUlimit, std::size_t> limits;
  std::map<std::string, int> granted_smem;         // by kernel
  std::vector<std::pair<CUdeviceptr, CUmemAccess_flags>> accesses;
  // Things that were made and not yet destroyed.
  std::multiset<std::string> alive;
  std::uint64_t memory_used = 0;
  // The calls among `names`, in their order.
  std::vector<std::string> calls_among(const std::set<std::string>& names) const;

  static constexpr std::uint64_t kGranularity = 64 << 10;
  static constexpr double kLaunchMs = 0.125;       // between events

 private:
  friend struct FakeCalls;
  CUresult call(const std::string& what);
  CUresult make(const std::string& what, const std::string& thing);
  CUresult destroy(const std::string& what, const std::string& thing);
  CUresult launch(FakeLaunch launch);
  CUresult wait(const std::string& what);
  bool gate_is_closed() const { return gate_ != nullptr && *gate_ == 0; }

  struct Module { std::vector<std::string> kernels; };
  std::deque<Module> modules_;
  std::deque<std::string> kernels_;                // functions point into this
  std::map<CUdeviceptr, std::vector<std::byte>> reserved_;
  std::map<void*, std::unique_ptr<std::byte[]>> host_memory_;
  std::map<CUmemGenericAllocationHandle, std::uint64_t> physical_;
  std::map<CUevent, std::size_t> events_;          // launches before it
  std::deque<int> event_storage_;
  std::size_t launched_ = 0, captured_ = 0;
  bool capturing_ = false, hangs_ = false;
  const volatile unsigned* gate_ = nullptr;
  CUresult sticky_ = CUDA_SUCCESS;
  std::string to_print_;
  std::uint64_t next_handle_ = 1;

  std::set<CUpti_ActivityKind> recorded_;
  CUpti_BuffersCallbackRequestFunc request_ = nullptr;
  CUpti_BuffersCallbackCompleteFunc complete_ = nullptr;
  std::deque<cuda::KernelRecord> records_;
  std::size_t next_record_ = 0;
};

}  // namespace onelaunch::fakes
