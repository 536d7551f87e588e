#pragma once
// The CUDA driver as a table of functions, found with dlopen: nothing of CUDA is needed to build or to start. Tests fill
// the table with their own.

#include <cuda.h>

#include <string>

#include "base/result.h"

namespace onelaunch::cuda {

// Every driver function that is used, in one list.
#define OL_DRIVER_FUNCTIONS(F)                                                                                        \
  F(cuInit) F(cuDriverGetVersion) F(cuGetErrorName) F(cuGetErrorString)                                               \
  F(cuDeviceGetCount) F(cuDeviceGet) F(cuDeviceGetName) F(cuDeviceGetUuid) F(cuDeviceGetAttribute)                    \
  F(cuDevicePrimaryCtxRetain) F(cuDevicePrimaryCtxRelease) F(cuCtxSetCurrent) F(cuCtxSetLimit)                        \
  F(cuCtxResetPersistingL2Cache) F(cuCtxSynchronize) F(cuMemGetInfo)                                                  \
  F(cuModuleLoadData) F(cuModuleUnload) F(cuModuleGetFunction) F(cuModuleGetFunctionCount)                            \
  F(cuModuleEnumerateFunctions) F(cuFuncGetName) F(cuFuncSetAttribute) F(cuFuncGetAttribute)                          \
  F(cuOccupancyMaxActiveBlocksPerMultiprocessor) F(cuOccupancyMaxActiveClusters)                                      \
  F(cuLaunchKernel) F(cuLaunchKernelEx)                                                                               \
  F(cuMemGetAllocationGranularity) F(cuMemAddressReserve) F(cuMemAddressFree) F(cuMemCreate) F(cuMemRelease)          \
  F(cuMemMap) F(cuMemUnmap) F(cuMemSetAccess)                                                                         \
  F(cuMemcpyDtoH) F(cuMemcpyDtoDAsync) F(cuMemcpyHtoDAsync) F(cuMemsetD8Async)                                        \
  F(cuMemHostAlloc) F(cuMemFreeHost) F(cuMemHostGetDevicePointer)                                                     \
  F(cuStreamCreate) F(cuStreamDestroy) F(cuStreamQuery) F(cuStreamSynchronize)                                        \
  F(cuStreamBeginCapture) F(cuStreamEndCapture)                                                                       \
  F(cuGraphInstantiate) F(cuGraphUpload) F(cuGraphLaunch) F(cuGraphDestroy) F(cuGraphExecDestroy)                     \
  F(cuEventCreate) F(cuEventRecord) F(cuEventElapsedTime) F(cuEventDestroy)

// Members bear the functions' names; where cuda.h renames a function to its newest version, the member's name follows.
struct Driver {
#define OL_MEMBER(name) decltype(&::name) name = nullptr;
  OL_DRIVER_FUNCTIONS(OL_MEMBER)
#undef OL_MEMBER
};

// Fails (unavailable) with what is missing.
Result<Driver> load_driver();

// "cuMemCreate: CUDA_ERROR_OUT_OF_MEMORY (out of memory): free memory on the GPU or ...".
std::string describe(const Driver& driver, CUresult result, const std::string& call);

// A failure of ours. Nothing on CUDA_SUCCESS.
Result<void> check(const Driver& driver, CUresult result, const std::string& call);

}  // namespace onelaunch::cuda
