#include "sandbox/worker/cuda_launch.h"

#include <array>

namespace onelaunch::worker {
namespace {

using sandbox::LaunchFault;

constexpr unsigned kPortableCluster = 8, kSmemWithoutAsking = 48 << 10;

struct Meaning {
  const char *kind, *text;
};
Meaning meaning_of(CUresult result) {
  switch (result) {
    case CUDA_ERROR_ILLEGAL_ADDRESS: return {"out_of_bounds", "an address outside of every buffer was read or written, or a buffer that is read only was written"};
    case CUDA_ERROR_MISALIGNED_ADDRESS: return {"misaligned", "an access whose address is no multiple of its size"};
    case CUDA_ERROR_INVALID_ADDRESS_SPACE: return {"wrong_space", "an address of another memory space than the instruction's"};
    case CUDA_ERROR_ILLEGAL_INSTRUCTION: return {"trap", "an illegal instruction, or __trap()"};
    case CUDA_ERROR_ASSERT: return {"trap", "an assertion failed"};
    case CUDA_ERROR_LAUNCH_FAILED: return {"trap", "the kernel was aborted: __trap(), a barrier that gave up, or an access to shared memory out of bounds"};
    case CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE: return {"not_resident", "the blocks of the grid cannot all be on the device at once"};
    case CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES: return {"not_resident", "too many registers or too much shared memory for the device"};
    case CUDA_ERROR_INVALID_VALUE: return {"not_resident", "a launch shape that the device does not accept"};
    case CUDA_ERROR_INVALID_CLUSTER_SIZE: return {"not_resident", "a cluster size that the device or the grid does not accept"};
    default: return {"device_fault", ""};
  }
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

LaunchFault not_resident(const ReadyLaunch& launch, int fit, const std::string& of_what) {
  return {"not_resident", launch.entry + ": a grid of " + std::to_string(launch.grid) + " blocks of " + std::to_string(launch.block) +
                              " threads with " + std::to_string(launch.dynamic_smem) + " bytes of dynamic shared memory; " +
                              std::to_string(fit) + " " + of_what + " fit on the device at once"};
}

}  // namespace

LaunchFault fault_of(const cuda::Driver& driver, CUresult result, const std::string& entry) {
  const Meaning meaning = meaning_of(result);
  std::string text = describe(driver, result, entry);
  if (*meaning.text != '\0') text += std::string(": ") + meaning.text;
  return {meaning.kind, text};
}

std::vector<LaunchFault> permit(const cuda::Device& device, const ReadyLaunch& launch) {
  const cuda::Driver& driver = device.driver();
  if (launch.dynamic_smem > kSmemWithoutAsking) {
    const CUresult result = driver.cuFuncSetAttribute(launch.function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, static_cast<int>(launch.dynamic_smem));
    if (result != CUDA_SUCCESS) return {fault_of(driver, result, launch.entry + ", shared memory")};
  }
  if (launch.cluster > kPortableCluster)
    driver.cuFuncSetAttribute(launch.function, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1);
  if (!launch.cooperative) return {};
  int fit = 0;
  if (launch.cluster > 1) {
    std::array<CUlaunchAttribute, 2> attributes{};
    const CUlaunchConfig config = config_of(launch, nullptr, attributes);
    const CUresult result = driver.cuOccupancyMaxActiveClusters(&fit, launch.function, &config);
    if (result != CUDA_SUCCESS) return {fault_of(driver, result, launch.entry + ", clusters of " + std::to_string(launch.cluster))};
    if (static_cast<unsigned>(fit) * launch.cluster >= launch.grid) return {};
    return {not_resident(launch, fit, "clusters of " + std::to_string(launch.cluster))};
  }
  const CUresult result = driver.cuOccupancyMaxActiveBlocksPerMultiprocessor(&fit, launch.function, static_cast<int>(launch.block), launch.dynamic_smem);
  if (result != CUDA_SUCCESS) return {fault_of(driver, result, launch.entry + ", occupancy")};
  fit *= device.properties().sms;
  if (static_cast<unsigned>(fit) >= launch.grid) return {};
  return {not_resident(launch, fit, "blocks")};
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
