#include "sandbox/cuda/activity.h"

#include <dlfcn.h>

#include <cstdlib>
#include <mutex>

namespace onelaunch::cuda {
namespace {

constexpr std::size_t kBufferBytes = 4 << 20, kBufferAlignment = 8;
constexpr CUpti_ActivityKind kKinds[] = {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_MEMCPY,
                                         CUPTI_ACTIVITY_KIND_MEMSET, CUPTI_ACTIVITY_KIND_GRAPH_TRACE};
constexpr std::uint32_t kVersionsOfOneMajor = 10000;  // 130001 is of CUDA 13; older ones are small numbers

// CUPTI's callbacks carry no pointer of ours, so what they collect has to lie in a place of its own.
struct Collected {
  std::mutex mutex;
  Activity activity;
  std::size_t dropped = 0;
  decltype(&::cuptiActivityGetNextRecord) next = nullptr;
  decltype(&::cuptiActivityGetNumDroppedRecords) number_dropped = nullptr;
};
Collected& collected() {
  static Collected all;
  return all;
}

void CUPTIAPI give_buffer(std::uint8_t** buffer, std::size_t* bytes, std::size_t* records_max) {
  *buffer = static_cast<std::uint8_t*>(std::aligned_alloc(kBufferAlignment, kBufferBytes));
  *bytes = *buffer != nullptr ? kBufferBytes : 0;
  *records_max = 0;
}

void add(Activity& activity, const CUpti_Activity& record) {
  if (record.kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) {
    const auto& kernel = reinterpret_cast<const KernelRecord&>(record);
    activity.kernels.emplace_back(kernel.name != nullptr ? kernel.name : "");
    activity.kernel_us.push_back(static_cast<double>(kernel.end - kernel.start) / 1e3);
  } else if (record.kind == CUPTI_ACTIVITY_KIND_MEMCPY) {
    ++activity.memcpys;
  } else if (record.kind == CUPTI_ACTIVITY_KIND_MEMSET) {
    ++activity.memsets;
  } else if (record.kind == CUPTI_ACTIVITY_KIND_GRAPH_TRACE) {
    ++activity.graphs;
  }
}

void CUPTIAPI take_buffer(CUcontext context, std::uint32_t stream, std::uint8_t* buffer, std::size_t, std::size_t valid) {
  Collected& all = collected();
  const std::lock_guard lock(all.mutex);
  CUpti_Activity* record = nullptr;
  while (all.next(buffer, valid, &record) == CUPTI_SUCCESS) add(all.activity, *record);
  std::size_t dropped = 0;
  if (all.number_dropped(context, stream, &dropped) == CUPTI_SUCCESS) all.dropped += dropped;
  std::free(buffer);
}

std::vector<std::string> places() {
  const std::string name = "libcupti.so." + std::to_string(CUDA_VERSION / 1000);
  std::vector<std::string> all{name};
  std::vector<std::string> roots;
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"})
    if (const char* root = std::getenv(variable); root != nullptr && *root == '/') roots.emplace_back(root);
  roots.emplace_back("/usr/local/cuda");
  for (const std::string& root : roots)
    for (const char* folder : {"/lib64/", "/lib/", "/extras/CUPTI/lib64/"}) all.push_back(root + folder + name);
  all.emplace_back("libcupti.so");
  return all;
}

}  // namespace

Result<CuptiFunctions> load_cupti() {
  void* library = nullptr;
  for (const std::string& place : places())
    if (library == nullptr) library = ::dlopen(place.c_str(), RTLD_NOW);
  if (library == nullptr)
    return unavailable("CUPTI is missing (libcupti.so of the CUDA Toolkit), so launches cannot be counted; install cuda-cupti");
  CuptiFunctions functions;
  std::string missing;
  const auto get = [&](const char* symbol, auto& function) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(::dlsym(library, symbol));
    if (function == nullptr) missing = symbol;
  };
#define OL_FIND(name) get(#name, functions.name);
  OL_CUPTI_FUNCTIONS(OL_FIND)
#undef OL_FIND
  if (!missing.empty()) return unavailable("CUPTI has no " + missing + ": it is of another version; install cuda-cupti of the toolkit");
  return functions;
}

Result<void> ActivityRecorder::check(CUptiResult result, const char* call) const {
  if (result == CUPTI_SUCCESS) return {};
  const char* text = nullptr;
  functions_.cuptiGetResultString(result, &text);
  return unavailable(std::string(call) + ": " + (text != nullptr ? text : "CUPTI error " + std::to_string(result)));
}

Result<ActivityRecorder> ActivityRecorder::create(const CuptiFunctions& functions) {
  const ActivityRecorder recorder(functions);
  std::uint32_t version = 0;
  if (auto done = recorder.check(functions.cuptiGetVersion(&version), "cuptiGetVersion"); !done) return because(done.error());
  if (version / kVersionsOfOneMajor != CUPTI_API_VERSION / kVersionsOfOneMajor)
    return unavailable("CUPTI is version " + std::to_string(version) + ", and its records are read as those of " +
                       std::to_string(CUPTI_API_VERSION) + ": install cuda-cupti of the toolkit");
  collected().next = functions.cuptiActivityGetNextRecord;
  collected().number_dropped = functions.cuptiActivityGetNumDroppedRecords;
  if (auto done = recorder.check(functions.cuptiActivityRegisterCallbacks(give_buffer, take_buffer), "cuptiActivityRegisterCallbacks"); !done)
    return because(done.error());
  return recorder;
}

Result<void> ActivityRecorder::start() const {
  {
    Collected& all = collected();
    const std::lock_guard lock(all.mutex);
    all.activity = {};
    all.dropped = 0;
  }
  for (const CUpti_ActivityKind kind : kKinds)
    if (auto done = check(functions_.cuptiActivityEnable(kind), "cuptiActivityEnable"); !done) return done;
  return {};
}

Result<Activity> ActivityRecorder::stop() const {
  const auto flushed = check(functions_.cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED), "cuptiActivityFlushAll");
  for (const CUpti_ActivityKind kind : kKinds) functions_.cuptiActivityDisable(kind);
  if (!flushed) return because(flushed.error());
  Collected& all = collected();
  const std::lock_guard lock(all.mutex);
  if (all.dropped > 0) return unavailable("CUPTI lost " + std::to_string(all.dropped) + " records");
  return std::move(all.activity);
}

}  // namespace onelaunch::cuda
