#include "sandbox/cuda/activity.h"

#include <cupti.h>
#include <dlfcn.h>

#include <cstdlib>
#include <memory>
#include <mutex>

namespace onelaunch::cuda {

struct ActivityRecorder::Functions {
  decltype(&::cuptiActivityRegisterCallbacks) register_callbacks = nullptr;
  decltype(&::cuptiActivityEnable) enable = nullptr;
  decltype(&::cuptiActivityDisable) disable = nullptr;
  decltype(&::cuptiActivityFlushAll) flush = nullptr;
  decltype(&::cuptiActivityGetNextRecord) next = nullptr;
  decltype(&::cuptiGetResultString) text = nullptr;

  bool find(void* library) {
    const auto get = [&](const char* symbol, auto& function) {
      function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(::dlsym(library, symbol));
      return function != nullptr;
    };
    return get("cuptiActivityRegisterCallbacks", register_callbacks) && get("cuptiActivityEnable", enable) &&
           get("cuptiActivityDisable", disable) && get("cuptiActivityFlushAll", flush) &&
           get("cuptiActivityGetNextRecord", next) && get("cuptiGetResultString", text);
  }
};

namespace {

#if CUPTI_API_VERSION >= 130000
using KernelRecord = CUpti_ActivityKernel10;
#else
using KernelRecord = CUpti_ActivityKernel9;
#endif

constexpr std::size_t kBufferBytes = 4 << 20, kBufferAlignment = 8;
constexpr CUpti_ActivityKind kKinds[] = {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_MEMCPY,
                                         CUPTI_ACTIVITY_KIND_MEMSET, CUPTI_ACTIVITY_KIND_GRAPH_TRACE};

// CUPTI's callbacks carry no pointer of ours, so what they collect has to lie in a place of its own.
struct Collected {
  std::mutex mutex;
  Activity activity;
  CUptiResult (*next)(std::uint8_t*, std::size_t, CUpti_Activity**) = nullptr;
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

void CUPTIAPI take_buffer(CUcontext, std::uint32_t, std::uint8_t* buffer, std::size_t, std::size_t valid) {
  Collected& all = collected();
  const std::lock_guard lock(all.mutex);
  CUpti_Activity* record = nullptr;
  while (all.next(buffer, valid, &record) == CUPTI_SUCCESS) add(all.activity, *record);
  std::free(buffer);
}

void* open_library() {
  const std::string version = std::to_string(CUDA_VERSION / 1000);
  const std::string name = "libcupti.so." + version;
  for (const std::string& path : {name, "/usr/local/cuda/lib64/" + name, "/usr/local/cuda/extras/CUPTI/lib64/" + name, std::string("libcupti.so")})
    if (void* library = ::dlopen(path.c_str(), RTLD_NOW)) return library;
  return nullptr;
}

}  // namespace

Result<ActivityRecorder> ActivityRecorder::load() {
  static Functions functions;
  void* const library = open_library();
  if (library == nullptr || !functions.find(library))
    return unavailable("CUPTI is missing (libcupti.so of the CUDA Toolkit), so launches cannot be counted; install cuda-cupti");
  collected().next = functions.next;
  const CUptiResult result = functions.register_callbacks(give_buffer, take_buffer);
  if (result != CUPTI_SUCCESS) return unavailable("CUPTI does not start: error " + std::to_string(result));
  return ActivityRecorder(&functions);
}

Result<void> ActivityRecorder::start() const {
  {
    Collected& all = collected();
    const std::lock_guard lock(all.mutex);
    all.activity = {};
  }
  for (const CUpti_ActivityKind kind : kKinds)
    if (const CUptiResult result = functions_->enable(kind); result != CUPTI_SUCCESS) {
      const char* text = nullptr;
      functions_->text(result, &text);
      return unavailable(std::string("CUPTI refuses to record: ") + (text != nullptr ? text : "unknown error"));
    }
  return {};
}

Result<Activity> ActivityRecorder::stop() const {
  const CUptiResult flushed = functions_->flush(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
  for (const CUpti_ActivityKind kind : kKinds) functions_->disable(kind);
  if (flushed != CUPTI_SUCCESS) return unavailable("CUPTI gives no records: error " + std::to_string(flushed));
  Collected& all = collected();
  const std::lock_guard lock(all.mutex);
  return std::move(all.activity);
}

}  // namespace onelaunch::cuda
