#include "tests/fakes/fake_driver.h"

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <sstream>

#include "base/check.h"

namespace onelaunch::fakes {
namespace {

FakeDriver* the_one = nullptr;

}  // namespace

// The functions themselves, which find the fake that they belong to.
struct FakeCalls {
  static FakeDriver& fake() { return *the_one; }
  static CUresult call(const char* what) { return fake().call(what); }
  static CUresult wait(const char* what) { return fake().wait(what); }
  static std::string& kernel(CUfunction function) { return *reinterpret_cast<std::string*>(function); }
  static FakeDriver::Module& module(CUmodule module) { return *reinterpret_cast<FakeDriver::Module*>(module); }
  template <class T>
  static std::byte* memory(T address) { return reinterpret_cast<std::byte*>(address); }

  static CUresult error_text(CUresult result, const char** text) {
    static const std::map<CUresult, const char*> texts = {
        {CUDA_ERROR_OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY"},
        {CUDA_ERROR_ILLEGAL_ADDRESS, "CUDA_ERROR_ILLEGAL_ADDRESS"},
        {CUDA_ERROR_ECC_UNCORRECTABLE, "CUDA_ERROR_ECC_UNCORRECTABLE"},
        {CUDA_ERROR_DEVICE_UNAVAILABLE, "CUDA_ERROR_DEVICE_UNAVAILABLE"}};
    const auto found = texts.find(result);
    *text = found != texts.end() ? found->second : nullptr;
    return *text != nullptr ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
  }

  static void devices(cuda::Driver& d) {
    d.cuInit = [](unsigned) { return call("cuInit"); };
    d.cuDriverGetVersion = [](int* version) { return *version = fake().version, call("cuDriverGetVersion"); };
    d.cuGetErrorName = error_text;
    d.cuGetErrorString = [](CUresult, const char** text) { return *text = "meaning", CUDA_SUCCESS; };
    d.cuDeviceGetCount = [](int* count) { return *count = fake().devices, call("cuDeviceGetCount"); };
    d.cuDeviceGet = [](CUdevice* device, int ordinal) { return *device = ordinal, call("cuDeviceGet"); };
    d.cuDeviceGetName = [](char* text, int bytes, CUdevice) {
      std::strncpy(text, fake().name.c_str(), static_cast<std::size_t>(bytes));
      return call("cuDeviceGetName");
    };
    d.cuDeviceGetUuid = [](CUuuid* uuid, CUdevice) {
      for (int i = 0; i < 16; ++i) uuid->bytes[i] = static_cast<char>(0xf0 + i);
      return call("cuDeviceGetUuid");
    };
    d.cuDeviceGetAttribute = [](int* value, CUdevice_attribute which, CUdevice) {
      const auto found = fake().attributes.find(which);
      return *value = found != fake().attributes.end() ? found->second : 0, CUDA_SUCCESS;
    };
    d.cuDevicePrimaryCtxRetain = [](CUcontext* context, CUdevice) {
      return *context = reinterpret_cast<CUcontext>(8), fake().make("cuDevicePrimaryCtxRetain", "context");
    };
    d.cuDevicePrimaryCtxRelease = [](CUdevice) { return fake().destroy("cuDevicePrimaryCtxRelease", "context"); };
    d.cuCtxSetCurrent = [](CUcontext) { return call("cuCtxSetCurrent"); };
    d.cuCtxSetLimit = [](CUlimit limit, std::size_t value) { return fake().limits[limit] = value, call("cuCtxSetLimit"); };
    d.cuCtxResetPersistingL2Cache = [] { return call("cuCtxResetPersistingL2Cache"); };
    d.cuCtxSynchronize = [] { return wait("cuCtxSynchronize"); };
    d.cuMemGetInfo = [](std::size_t* free, std::size_t* total) {
      return *total = fake().memory_bytes, *free = *total - fake().memory_used, call("cuMemGetInfo");
    };
  }

  static void modules(cuda::Driver& d) {
    d.cuModuleLoadData = [](CUmodule* module, const void* image) {
      FakeDriver::Module loaded;
      std::istringstream words(static_cast<const char*>(image));
      for (std::string word; words >> word;) loaded.kernels.push_back(word);
      fake().modules_.push_back(std::move(loaded));
      return *module = reinterpret_cast<CUmodule>(&fake().modules_.back()), fake().make("cuModuleLoadData", "module");
    };
    d.cuModuleUnload = [](CUmodule) { return fake().destroy("cuModuleUnload", "module"); };
    d.cuModuleGetFunction = [](CUfunction* function, CUmodule of, const char* kernel) {
      const auto& kernels = module(of).kernels;
      if (std::find(kernels.begin(), kernels.end(), kernel) == kernels.end()) return CUDA_ERROR_NOT_FOUND;
      for (std::string& known : fake().kernels_)
        if (known == kernel) return *function = reinterpret_cast<CUfunction>(&known), CUDA_SUCCESS;
      fake().kernels_.emplace_back(kernel);
      return *function = reinterpret_cast<CUfunction>(&fake().kernels_.back()), CUDA_SUCCESS;
    };
    d.cuModuleGetFunctionCount = [](unsigned* count, CUmodule of) {
      return *count = static_cast<unsigned>(module(of).kernels.size()), call("cuModuleGetFunctionCount");
    };
    d.cuModuleEnumerateFunctions = [](CUfunction* functions, unsigned count, CUmodule of) {
      for (unsigned i = 0; i < count; ++i) functions[i] = reinterpret_cast<CUfunction>(&module(of).kernels[i]);
      return CUDA_SUCCESS;
    };
    d.cuFuncGetName = [](const char** text, CUfunction function) { return *text = kernel(function).c_str(), CUDA_SUCCESS; };
    d.cuFuncSetAttribute = [](CUfunction function, CUfunction_attribute which, int value) {
      if (which == CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES) fake().granted_smem[kernel(function)] = value;
      return call(which == CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED ? "allow large clusters" : "cuFuncSetAttribute");
    };
    d.cuFuncGetAttribute = [](int* value, CUfunction_attribute, CUfunction function) {
      const auto found = fake().granted_smem.find(kernel(function));
      return *value = found != fake().granted_smem.end() ? found->second : 48 << 10, CUDA_SUCCESS;
    };
    d.cuOccupancyMaxActiveBlocksPerMultiprocessor = [](int* blocks, CUfunction, int, std::size_t) {
      return *blocks = fake().blocks_that_fit, call("occupancy");
    };
    d.cuOccupancyMaxActiveClusters = [](int* clusters, CUfunction, const CUlaunchConfig*) {
      return *clusters = fake().clusters_that_fit, call("occupancy of clusters");
    };
  }

  static CUresult launch_ex(const CUlaunchConfig* config, CUfunction function, void**, void** extra) {
    FakeLaunch launch{.kernel = kernel(function), .grid = config->gridDimX, .block = config->blockDimX,
                      .dynamic_smem = config->sharedMemBytes, .cluster = 1, .cooperative = false, .words = {}};
    for (unsigned i = 0; i < config->numAttrs; ++i) {
      if (config->attrs[i].id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE) launch.cooperative = config->attrs[i].value.cooperative != 0;
      if (config->attrs[i].id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION) launch.cluster = config->attrs[i].value.clusterDim.x;
    }
    launch.words.resize(*static_cast<std::size_t*>(extra[3]) / sizeof(std::uint64_t));
    if (!launch.words.empty()) std::memcpy(launch.words.data(), extra[1], launch.words.size() * sizeof(std::uint64_t));
    return fake().launch(std::move(launch));
  }

  // Only the harness's own kernels, of two words each, are launched so.
  static CUresult launch_plain(CUfunction function, unsigned grid, unsigned, unsigned, unsigned block, unsigned, unsigned,
                               unsigned smem, CUstream, void** parameters, void**) {
    FakeLaunch launch{.kernel = kernel(function), .grid = grid, .block = block, .dynamic_smem = smem, .cluster = 1,
                      .cooperative = false, .words = {}};
    for (int i = 0; i < 2; ++i) launch.words.push_back(*static_cast<std::uint64_t*>(parameters[i]));
    return fake().launch(std::move(launch));
  }

  static void addresses(cuda::Driver& d) {
    d.cuMemGetAllocationGranularity = [](std::size_t* bytes, const CUmemAllocationProp*, CUmemAllocationGranularity_flags) {
      return *bytes = FakeDriver::kGranularity, call("cuMemGetAllocationGranularity");
    };
    d.cuMemAddressReserve = [](CUdeviceptr* address, std::size_t bytes, std::size_t, CUdeviceptr, unsigned long long) {
      std::vector<std::byte> memory(bytes + FakeDriver::kGranularity, std::byte{0});
      const auto start = reinterpret_cast<CUdeviceptr>(memory.data());
      *address = (start + FakeDriver::kGranularity - 1) / FakeDriver::kGranularity * FakeDriver::kGranularity;
      fake().reserved_.emplace(*address, std::move(memory));
      return fake().make("cuMemAddressReserve", "addresses");
    };
    d.cuMemAddressFree = [](CUdeviceptr address, std::size_t) {
      return fake().reserved_.erase(address), fake().destroy("cuMemAddressFree", "addresses");
    };
    d.cuMemCreate = [](CUmemGenericAllocationHandle* handle, std::size_t bytes, const CUmemAllocationProp*, unsigned long long) {
      if (fake().memory_used + bytes > fake().memory_bytes) return CUDA_ERROR_OUT_OF_MEMORY;
      fake().memory_used += bytes;
      *handle = fake().next_handle_++;
      fake().physical_[*handle] = bytes;
      return fake().make("cuMemCreate", "memory");
    };
    d.cuMemRelease = [](CUmemGenericAllocationHandle handle) {
      fake().memory_used -= fake().physical_[handle];
      return fake().destroy("cuMemRelease", "memory");
    };
    d.cuMemMap = [](CUdeviceptr, std::size_t, std::size_t, CUmemGenericAllocationHandle, unsigned long long) { return fake().make("cuMemMap", "mapping"); };
    d.cuMemUnmap = [](CUdeviceptr, std::size_t) { return fake().destroy("cuMemUnmap", "mapping"); };
    d.cuMemSetAccess = [](CUdeviceptr address, std::size_t, const CUmemAccessDesc* access, std::size_t) {
      fake().accesses.emplace_back(address, access->flags);
      return call("cuMemSetAccess");
    };
  }

  static void memory(cuda::Driver& d) {
    d.cuMemcpyHtoDAsync = [](CUdeviceptr to, const void* from, std::size_t bytes, CUstream) { return std::memcpy(memory(to), from, bytes), call("cuMemcpyHtoDAsync"); };
    d.cuMemcpyDtoDAsync = [](CUdeviceptr to, CUdeviceptr from, std::size_t bytes, CUstream) { return std::memcpy(memory(to), memory(from), bytes), call("cuMemcpyDtoDAsync"); };
    d.cuMemcpyDtoH = [](void* to, CUdeviceptr from, std::size_t bytes) { return std::memcpy(to, memory(from), bytes), wait("cuMemcpyDtoH"); };
    d.cuMemsetD8Async = [](CUdeviceptr to, unsigned char value, std::size_t bytes, CUstream) { return std::memset(memory(to), value, bytes), call("cuMemsetD8Async"); };
    d.cuMemHostAlloc = [](void** memory, std::size_t bytes, unsigned) {
      auto owned = std::make_unique<std::byte[]>(bytes);
      *memory = owned.get();
      fake().host_memory_.emplace(*memory, std::move(owned));
      return fake().make("cuMemHostAlloc", "host memory");
    };
    d.cuMemFreeHost = [](void* memory) { return fake().host_memory_.erase(memory), fake().destroy("cuMemFreeHost", "host memory"); };
    d.cuMemHostGetDevicePointer = [](CUdeviceptr* address, void* memory, unsigned) {
      return *address = reinterpret_cast<CUdeviceptr>(memory), call("cuMemHostGetDevicePointer");
    };
  }

  static void streams(cuda::Driver& d) {
    d.cuStreamCreate = [](CUstream* stream, unsigned) { return *stream = reinterpret_cast<CUstream>(16), fake().make("cuStreamCreate", "stream"); };
    d.cuStreamDestroy = [](CUstream) { return fake().destroy("cuStreamDestroy", "stream"); };
    d.cuStreamSynchronize = [](CUstream) { return wait("cuStreamSynchronize"); };
    d.cuStreamQuery = [](CUstream) {
      if (fake().on_query) fake().on_query();
      if (fake().sticky_ != CUDA_SUCCESS) return fake().sticky_;
      return fake().hangs_ || fake().gate_is_closed() ? CUDA_ERROR_NOT_READY : CUDA_SUCCESS;
    };
    d.cuStreamBeginCapture = [](CUstream, CUstreamCaptureMode) { return fake().capturing_ = true, call("cuStreamBeginCapture"); };
    d.cuStreamEndCapture = [](CUstream, CUgraph* graph) {
      fake().capturing_ = false;
      return *graph = reinterpret_cast<CUgraph>(24), fake().make("cuStreamEndCapture", "graph");
    };
    d.cuGraphInstantiate = [](CUgraphExec* graph, CUgraph, unsigned long long) { return *graph = reinterpret_cast<CUgraphExec>(32), fake().make("cuGraphInstantiate", "executable graph"); };
    d.cuGraphUpload = [](CUgraphExec, CUstream) { return call("cuGraphUpload"); };
    d.cuGraphLaunch = [](CUgraphExec, CUstream) { return fake().launched_ += fake().captured_, call("cuGraphLaunch"); };
    d.cuGraphDestroy = [](CUgraph) { return fake().destroy("cuGraphDestroy", "graph"); };
    d.cuGraphExecDestroy = [](CUgraphExec) { return fake().destroy("cuGraphExecDestroy", "executable graph"); };
    d.cuEventCreate = [](CUevent* event, unsigned) {
      fake().event_storage_.push_back(0);
      return *event = reinterpret_cast<CUevent>(&fake().event_storage_.back()), fake().make("cuEventCreate", "event");
    };
    d.cuEventRecord = [](CUevent event, CUstream) { return fake().events_[event] = fake().launched_, call("cuEventRecord"); };
    d.cuEventElapsedTime = [](float* ms, CUevent begin, CUevent end) {
      *ms = static_cast<float>(static_cast<double>(fake().events_[end] - fake().events_[begin]) * FakeDriver::kLaunchMs);
      return call("cuEventElapsedTime");
    };
    d.cuEventDestroy = [](CUevent) { return fake().destroy("cuEventDestroy", "event"); };
  }
};

FakeDriver::FakeDriver() {
  OL_CHECK(the_one == nullptr, "one fake driver at a time");
  the_one = this;
  attributes = {{CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 9}, {CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 4},
                {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 1024}, {CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, 1 << 20},
                {CU_DEVICE_ATTRIBUTE_MAX_PERSISTING_L2_CACHE_SIZE, 1 << 19}};
}

FakeDriver::~FakeDriver() { the_one = nullptr; }

CUresult FakeDriver::call(const std::string& what) {
  calls.push_back(what);
  if (const auto found = failing.find(what); found != failing.end()) return found->second;
  return sticky_;
}

CUresult FakeDriver::make(const std::string& what, const std::string& thing) {
  const CUresult result = call(what);
  if (result == CUDA_SUCCESS) alive.insert(thing);
  return result;
}

CUresult FakeDriver::destroy(const std::string& what, const std::string& thing) {
  if (const auto found = alive.find(thing); found != alive.end()) alive.erase(found);
  return call(what);
}

CUresult FakeDriver::wait(const std::string& what) {
  if (printer >= 0 && !to_print_.empty() && ::write(printer, to_print_.data(), to_print_.size()) > 0) to_print_.clear();
  OL_CHECK(!hangs_ && !gate_is_closed(), "nobody waits for what never comes");
  return call(what);
}

CUresult FakeDriver::launch(FakeLaunch launch) {
  if (capturing_) return ++captured_, call("capture " + launch.kernel);
  const std::string what = "launch " + launch.kernel + (launch.kernel != "ol_gate" && gate_is_closed() ? " behind the gate" : "");
  if (launch.kernel == "ol_gate") gate_ = reinterpret_cast<const volatile unsigned*>(launch.words[0]);
  if (const CUresult result = call(what); result != CUDA_SUCCESS) return result;
  ++launched_;
  if (recorded_.contains(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) && cupti_records) {
    cuda::KernelRecord& record = records_.emplace_back();
    record.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
    record.start = launched_ * 1000, record.end = record.start + 500;
    for (const std::string& known : kernels_)
      if (known == launch.kernel) record.name = known.c_str();
  }
  launches.push_back(launch);
  return on_launch ? on_launch(launch) : CUDA_SUCCESS;
}

std::vector<std::string> FakeDriver::calls_among(const std::set<std::string>& names) const {
  std::vector<std::string> among;
  for (const std::string& one : calls)
    if (names.contains(one)) among.push_back(one);
  return among;
}

cuda::Driver FakeDriver::driver() const {
  cuda::Driver table;
  FakeCalls::devices(table);
  FakeCalls::modules(table);
  FakeCalls::addresses(table);
  FakeCalls::memory(table);
  FakeCalls::streams(table);
  table.cuLaunchKernelEx = FakeCalls::launch_ex;
  table.cuLaunchKernel = FakeCalls::launch_plain;
  return table;
}

cuda::NvmlFunctions FakeDriver::nvml() const {
  using Device = cuda::NvmlFunctions::Device;
  cuda::NvmlFunctions f;
  f.init = [] { return 0; };
  f.shutdown = [] { return 0; };
  f.by_uuid = [](const char* uuid, Device* device) {
    const bool known = std::strncmp(uuid, the_one->nvml_knows_only_instances ? "MIG-" : "GPU-", 4) == 0;
    *device = known ? the_one : nullptr;
    return known ? 0 : 6;
  };
  f.clock = [](Device, int which, unsigned* mhz) { return *mhz = which == 1 ? 1980u : 3201u, 0; };
  f.power = [](Device, unsigned* mw) { return *mw = 350'000, 0; };
  f.temperature = [](Device, int, unsigned* celsius) { return *celsius = 41, 0; };
  f.reasons = [](Device, unsigned long long* bits) { return *bits = the_one->throttle_reasons, 0; };
  f.driver_version = [](char* text, unsigned bytes) { return std::strncpy(text, "580.159.04", bytes), 0; };
  f.mig_mode = [](Device, unsigned* current, unsigned*) { return *current = the_one->mig, 0; };
  f.persistence_mode = [](Device, unsigned* mode) { return *mode = the_one->persistence, 0; };
  f.ecc_errors = [](Device, int, int, unsigned long long* count) { return *count = the_one->uncorrected_errors, 0; };
  f.processes = [](Device, unsigned* count, cuda::NvmlFunctions::Process* all) {
    *count = static_cast<unsigned>(the_one->processes.size());
    for (unsigned i = 0; i < *count; ++i) all[i] = {the_one->processes[i], 0, 0, 0};
    return 0;
  };
  return f;
}

cuda::CuptiFunctions FakeDriver::cupti() const {
  cuda::CuptiFunctions f;
  f.cuptiGetVersion = [](std::uint32_t* number) { return *number = the_one->cupti_version, CUPTI_SUCCESS; };
  f.cuptiActivityRegisterCallbacks = [](CUpti_BuffersCallbackRequestFunc request, CUpti_BuffersCallbackCompleteFunc complete) {
    return the_one->request_ = request, the_one->complete_ = complete, CUPTI_SUCCESS;
  };
  f.cuptiActivityEnable = [](CUpti_ActivityKind kind) { return the_one->calls.emplace_back("record"), the_one->recorded_.insert(kind), CUPTI_SUCCESS; };
  f.cuptiActivityDisable = [](CUpti_ActivityKind kind) { return the_one->calls.emplace_back("record no more"), the_one->recorded_.erase(kind), CUPTI_SUCCESS; };
  f.cuptiActivityFlushAll = [](std::uint32_t) {
    std::uint8_t* buffer = nullptr;
    std::size_t bytes = 0, records_max = 0;
    the_one->request_(&buffer, &bytes, &records_max);
    the_one->next_record_ = 0;
    the_one->complete_(nullptr, 0, buffer, bytes, bytes);
    the_one->records_.clear();
    return CUPTI_SUCCESS;
  };
  f.cuptiActivityGetNextRecord = [](std::uint8_t*, std::size_t, CUpti_Activity** record) {
    if (the_one->next_record_ == the_one->records_.size()) return CUPTI_ERROR_MAX_LIMIT_REACHED;
    *record = reinterpret_cast<CUpti_Activity*>(&the_one->records_[the_one->next_record_++]);
    return CUPTI_SUCCESS;
  };
  f.cuptiActivityGetNumDroppedRecords = [](CUcontext, std::uint32_t, std::size_t* count) { return *count = the_one->cupti_dropped, CUPTI_SUCCESS; };
  f.cuptiGetResultString = [](CUptiResult, const char** text) { return *text = "CUPTI's words", CUPTI_SUCCESS; };
  return f;
}

}  // namespace onelaunch::fakes
