#pragma once
// What ran on the device, as CUPTI's activity records tell. At most one recorder in a process.

#include <cupti.h>

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace onelaunch::cuda {

// The functions of CUPTI that are used, found with dlopen. Tests fill the table with their own.
#define OL_CUPTI_FUNCTIONS(F)                                                                                     \
  F(cuptiGetVersion) F(cuptiActivityRegisterCallbacks) F(cuptiActivityEnable) F(cuptiActivityDisable)             \
  F(cuptiActivityFlushAll) F(cuptiActivityGetNextRecord) F(cuptiActivityGetNumDroppedRecords) F(cuptiGetResultString)
struct CuptiFunctions {
#define OL_MEMBER(name) decltype(&::name) name = nullptr;
  OL_CUPTI_FUNCTIONS(OL_MEMBER)
#undef OL_MEMBER
};

#if CUPTI_API_VERSION >= 130000
using KernelRecord = CUpti_ActivityKernel10;
#else
using KernelRecord = CUpti_ActivityKernel9;
#endif

// Looks in the loader's own search and beside the toolkit. Fails (unavailable) saying what to install.
Result<CuptiFunctions> load_cupti();

struct Activity {
  std::vector<std::string> kernels;     // names, one for each that ran
  std::vector<double> kernel_us;        // durations, likewise
  std::uint32_t graphs = 0, memcpys = 0, memsets = 0;
};

class ActivityRecorder {
 public:
  // Fails (unavailable) when the library is of another CUDA version than its records are read as.
  static Result<ActivityRecorder> create(const CuptiFunctions& functions);

  // The device must be idle: what is enqueued from here to stop() is the window that is recorded.
  Result<void> start() const;
  // Stops and gives everything that ended since start(). The device must be idle. Fails when records were lost.
  Result<Activity> stop() const;

 private:
  explicit ActivityRecorder(const CuptiFunctions& functions) : functions_(functions) {}
  Result<void> check(CUptiResult result, const char* call) const;
  CuptiFunctions functions_;
};

}  // namespace onelaunch::cuda
