#include "sandbox/worker/cuda_launch.h"

#include <array>

namespace onelaunch::worker {
namespace {

constexpr unsigned kPortableCluster = 8;

struct Meaning {
  const char *kind, *text;
};
// What a kernel did; empty for what no kernel does.
Meaning meaning_of(CUresult result) {
  switch (result) {
    case CUDA_ERROR_ILLEGAL_ADDRESS: return {"out_of_bounds", "an address outside of every buffer was read or written, or a buffer that is read only was written"};
    case CUDA_ERROR_MISALIGNED_ADDRESS: return {"misaligned", "an access whose address is no multiple of its size"};
    case CUDA_ERROR_INVALID_ADDRESS_SPACE: return {"wrong_space", "an address of another memory space than the instruction's"};
    case CUDA_ERROR_ILLEGAL_INSTRUCTION: return {"trap", "an illegal instruction, or __trap()"};
    case CUDA_ERROR_INVALID_PC: return {"trap", "a jump to where no instructions are"};
    case CUDA_ERROR_HARDWARE_STACK_ERROR: return {"trap", "the stack overflowed or was damaged"};
    case CUDA_ERROR_ASSERT: return {"trap", "an assertion failed"};
    case CUDA_ERROR_LAUNCH_FAILED: return {"trap", "the kernel was aborted: __trap(), a barrier that gave up, or an access to shared memory out of bounds"};
#if CUDA_VERSION >= 13000
    case CUDA_ERROR_TENSOR_MEMORY_LEAK: return {"misuse", "the kernel ended without giving its tensor memory back"};
#endif
    case CUDA_ERROR_LAUNCH_TIMEOUT: return {"time_limit", "the driver ended the kernel, since a display hangs on this GPU"};
    case CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE: return {"not_resident", "the blocks of the grid cannot all be on the device at once"};
    case CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES: return {"not_resident", "too many registers or too much shared memory for the device"};
    case CUDA_ERROR_INVALID_VALUE: return {"not_resident", "a launch shape that the device does not accept"};
    case CUDA_ERROR_INVALID_CLUSTER_SIZE: return {"not_resident", "a cluster size that the device or the grid does not accept"};
    default: return {"", ""};
  }
}

// The call failed, and that was all.
bool is_refusal(CUresult result) {
  return result == CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE || result == CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES ||
         result == CUDA_ERROR_INVALID_VALUE || result == CUDA_ERROR_INVALID_CLUSTER_SIZE || result == CUDA_ERROR_OUT_OF_MEMORY;
}

CUlaunchConfig config_of(const ReadyLaunch& launch, CUstream stream, std::array<CUlaunchAttribute, 2>& attributes) {
  CUlaunchConfig config{};
  config.gridDimX = launch.grid, config.gridDimY = config.gridDimZ = 1;
  config.blockDimX = launch.block, config.blockDimY = config.blockDimZ = 1;
  config.sharedMemBytes = launch.dynamic_smem;
  config.hStream = stream;
  config.attrs = attributes.data();
  if (launch.cooperative) {
    CUlaunchAttribute& attribute = attributes[config.numAttrs++];
    attribute.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
    attribute.value.cooperative = 1;
  }
  if (launch.cluster > 1) {
    CUlaunchAttribute& attribute = attributes[config.numAttrs++];
    attribute.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
    attribute.value.clusterDim.x = launch.cluster;
    attribute.value.clusterDim.y = attribute.value.clusterDim.z = 1;
  }
  return config;
}

Ended not_resident(const ReadyLaunch& launch, std::uint64_t fit, const std::string& of_what) {
  Ended ended;
  ended.faults.push_back({"not_resident", launch.entry + ": a cooperative grid of " + std::to_string(launch.grid) + " blocks of " +
                                              std::to_string(launch.block) + " threads with " + std::to_string(launch.dynamic_smem) +
                                              " bytes of dynamic shared memory; " + std::to_string(fit) + " " + of_what +
                                              " fit on the device at once"});
  return ended;
}

// 0 when not even one fits.
CUresult blocks_that_fit(const cuda::Device& device, const ReadyLaunch& launch, std::uint64_t& blocks) {
  int fit = 0;
  const CUresult result = device.driver().cuOccupancyMaxActiveBlocksPerMultiprocessor(
      &fit, launch.function, static_cast<int>(launch.block), launch.dynamic_smem);
  blocks = static_cast<std::uint64_t>(fit) * static_cast<std::uint64_t>(device.properties().sms);
  return result;
}

CUresult clusters_that_fit(const cuda::Driver& driver, const ReadyLaunch& launch, std::uint64_t& clusters) {
  int fit = 0;
  std::array<CUlaunchAttribute, 2> attributes{};
  const CUlaunchConfig config = config_of(launch, nullptr, attributes);
  const CUresult result = driver.cuOccupancyMaxActiveClusters(&fit, launch.function, &config);
  clusters = static_cast<std::uint64_t>(fit);
  return result;
}

// Only ever raises what is allowed: orders of one function may differ, and are all made ready before the first is launched.
CUresult allow_smem(const cuda::Driver& driver, const ReadyLaunch& launch) {
  constexpr CUfunction_attribute kMost = CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
  int allowed = 0;
  const CUresult known = driver.cuFuncGetAttribute(&allowed, kMost, launch.function);
  const int wanted = static_cast<int>(launch.dynamic_smem);
  return known != CUDA_SUCCESS || wanted <= allowed ? known : driver.cuFuncSetAttribute(launch.function, kMost, wanted);
}

}  // namespace

Ended ended_with(const cuda::Driver& driver, CUresult result, const std::string& entry) {
  Ended ended;
  if (result == CUDA_SUCCESS) return ended;
  const Meaning meaning = meaning_of(result);
  std::string text = describe(driver, result, entry);
  ended.context_lost = !is_refusal(result);
  if (*meaning.kind == '\0')
    ended.problem = std::move(text);
  else
    ended.faults.push_back({meaning.kind, text + ": " + meaning.text});
  return ended;
}

Ended permit(const cuda::Device& device, const ReadyLaunch& launch) {
  const cuda::Driver& driver = device.driver();
  if (const CUresult result = allow_smem(driver, launch); result != CUDA_SUCCESS)
    return ended_with(driver, result, launch.entry + ", " + std::to_string(launch.dynamic_smem) + " bytes of dynamic shared memory");
  if (launch.cluster > kPortableCluster)
    driver.cuFuncSetAttribute(launch.function, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1);
  if (!launch.cooperative) return {};
  std::uint64_t fit = 0;
  if (launch.cluster > 1) {
    const std::string clusters = "clusters of " + std::to_string(launch.cluster);
    const CUresult result = clusters_that_fit(driver, launch, fit);
    if (result != CUDA_SUCCESS) return ended_with(driver, result, launch.entry + ", " + clusters);
    return fit * launch.cluster >= launch.grid ? Ended{} : not_resident(launch, fit, clusters);
  }
  const CUresult result = blocks_that_fit(device, launch, fit);
  if (result != CUDA_SUCCESS) return ended_with(driver, result, launch.entry + ", occupancy");
  return fit >= launch.grid ? Ended{} : not_resident(launch, fit, "blocks");
}

CUresult launch(const cuda::Driver& driver, const ReadyLaunch& launch, CUstream stream) {
  std::array<CUlaunchAttribute, 2> attributes{};
  const CUlaunchConfig config = config_of(launch, stream, attributes);
  std::size_t bytes = launch.parameters.size();
  void* extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, const_cast<char*>(launch.parameters.data()), CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes,
                   CU_LAUNCH_PARAM_END};
  return driver.cuLaunchKernelEx(&config, launch.function, nullptr, extra);
}

}  // namespace onelaunch::worker
