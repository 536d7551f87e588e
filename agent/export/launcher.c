/* Launches kernel.cubin on an NVIDIA GPU and prints its time per token. Needs a C compiler and the driver, nothing of
 * the CUDA Toolkit: libcuda is loaded when this runs.
 *
 *     make && ./launcher [kernel.cubin] [rows cached before the token, default 2048]
 *
 * kernel_data.h says what there is to allocate and where the arguments keep what. Weights and states are filled with
 * pseudo-random values of harmless size: this shows how to launch the kernel and how long it takes, not that it is right. */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernel_data.h"

typedef int CUresult;
typedef uint64_t CUdeviceptr;
typedef struct { unsigned id; char pad[4]; union { char pad[64]; unsigned words[16]; int flag; } value; } LaunchAttribute;
typedef struct {
  unsigned grid[3], block[3], shared_bytes;
  void* stream;
  LaunchAttribute* attributes;
  unsigned attribute_count;
} LaunchConfig;

enum { kCooperative = 2, kClusterDimension = 4, kMaxDynamicShared = 8, kNonPortableCluster = 14, kMultiprocessors = 16 };
enum { kWarmup = 20, kTokens = 200, kPatternBytes = 4 << 20 };

static struct {
  CUresult (*init)(unsigned);
  CUresult (*device)(int*, int);
  CUresult (*name)(char*, int, int);
  CUresult (*attribute)(int*, int, int);
  CUresult (*retain)(void**, int);
  CUresult (*current)(void*);
  CUresult (*load)(void**, const void*);
  CUresult (*function)(void**, void*, const char*);
  CUresult (*set)(void*, int, int);
  CUresult (*allocate)(CUdeviceptr*, size_t);
  CUresult (*upload)(CUdeviceptr, const void*, size_t);
  CUresult (*zero)(CUdeviceptr, unsigned char, size_t);
  CUresult (*launch)(const LaunchConfig*, void*, void**, void**);
  CUresult (*synchronize)(void);
  CUresult (*event)(void**, unsigned);
  CUresult (*record)(void*, void*);
  CUresult (*elapsed)(float*, void*, void*);
  CUresult (*error)(CUresult, const char**);
} cu;

static void must(CUresult result, const char* what) {
  const char* text = "unknown error";
  if (result == 0) return;
  if (cu.error) cu.error(result, &text);
  fprintf(stderr, "%s: %s (CUDA error %d)\n", what, text, result);
  exit(1);
}

static void* symbol(void* library, const char* name) {
  void* found = dlsym(library, name);
  if (!found) fprintf(stderr, "this driver lacks %s: update it\n", name), exit(1);
  return found;
}

static void load_driver(void) {
  void* library = dlopen("libcuda.so.1", RTLD_NOW);
  if (!library) fprintf(stderr, "no NVIDIA driver here: %s\n", dlerror()), exit(1);
#define LOAD(member, name) *(void**)&cu.member = symbol(library, name)
  LOAD(init, "cuInit"), LOAD(device, "cuDeviceGet"), LOAD(name, "cuDeviceGetName"), LOAD(attribute, "cuDeviceGetAttribute");
  LOAD(retain, "cuDevicePrimaryCtxRetain"), LOAD(current, "cuCtxSetCurrent"), LOAD(load, "cuModuleLoadData");
  LOAD(function, "cuModuleGetFunction"), LOAD(set, "cuFuncSetAttribute"), LOAD(allocate, "cuMemAlloc_v2");
  LOAD(upload, "cuMemcpyHtoD_v2"), LOAD(zero, "cuMemsetD8_v2"), LOAD(launch, "cuLaunchKernelEx");
  LOAD(synchronize, "cuCtxSynchronize"), LOAD(event, "cuEventCreate"), LOAD(record, "cuEventRecord");
  LOAD(elapsed, "cuEventElapsedTime"), LOAD(error, "cuGetErrorString");
#undef LOAD
}

static void* read_whole(const char* path) {
  FILE* file = fopen(path, "rb");
  long size;
  char* content;
  if (!file) perror(path), exit(1);
  fseek(file, 0, SEEK_END), size = ftell(file), rewind(file);
  content = malloc((size_t)size + 1);
  if (!content || fread(content, 1, (size_t)size, file) != (size_t)size) perror(path), exit(1);
  fclose(file);
  return content;
}

static uint64_t random_word(uint64_t* state) {
  *state ^= *state << 13, *state ^= *state >> 7, *state ^= *state << 17;
  return *state;
}

/* 4 MiB that are copied until a tensor is full. bf16 and f32: of either sign, between 1/128 and 1/64. */
static void* make_pattern(enum element element) {
  uint64_t state = 0x9e3779b97f4a7c15u;
  unsigned char* bytes = malloc(kPatternBytes);
  size_t at;
  if (!bytes) perror("malloc"), exit(1);
  for (at = 0; at < kPatternBytes; at += 8) {
    uint64_t word = random_word(&state);
    if (element == kBf16) word = (word & 0x807f807f807f807fu) | 0x3c003c003c003c00u;
    if (element == kF32) word = (word & 0x807fffff807fffffu) | 0x3c0000003c000000u;
    if (element == kI32) word = 0;
    memcpy(bytes + at, &word, 8);
  }
  return bytes;
}

static CUdeviceptr allocate(uint64_t bytes, const char* name) {
  CUdeviceptr pointer = 0;
  if (bytes > 0) must(cu.allocate(&pointer, bytes), name);
  return pointer;
}

static void fill(CUdeviceptr pointer, uint64_t bytes, const void* pattern) {
  uint64_t at;
  for (at = 0; at < bytes; at += kPatternBytes)
    must(cu.upload(pointer + at, pattern, bytes - at < kPatternBytes ? bytes - at : kPatternBytes), "cuMemcpyHtoD");
}

static void* function_of(void* module, const struct shape* shape) {
  void* function;
  must(cu.function(&function, module, shape->name), shape->name);
  if (shape->dynamic_smem > 0) must(cu.set(function, kMaxDynamicShared, (int)shape->dynamic_smem), "shared memory");
  if (shape->cluster > 8) must(cu.set(function, kNonPortableCluster, 1), "cluster size");
  return function;
}

static void run(void* function, const struct shape* shape, int multiprocessors, int cooperative, uint64_t* arguments) {
  LaunchAttribute attributes[2];
  LaunchConfig config;
  void* parameters[1];
  memset(attributes, 0, sizeof attributes), memset(&config, 0, sizeof config);
  config.grid[0] = shape->grid * (shape->per_sm ? (unsigned)multiprocessors : 1u), config.grid[1] = config.grid[2] = 1;
  config.block[0] = shape->block, config.block[1] = config.block[2] = 1;
  config.shared_bytes = shape->dynamic_smem, config.attributes = attributes;
  if (cooperative) attributes[config.attribute_count].id = kCooperative, attributes[config.attribute_count++].value.flag = 1;
  if (shape->cluster > 1) {
    LaunchAttribute* cluster = &attributes[config.attribute_count++];
    cluster->id = kClusterDimension, cluster->value.words[0] = shape->cluster;
    cluster->value.words[1] = cluster->value.words[2] = 1;
  }
  parameters[0] = arguments;
  must(cu.launch(&config, function, parameters, NULL), shape->name);
}

int main(int argc, char** argv) {
  const char* path = argc > 1 ? argv[1] : "kernel.cubin";
  const long long position = argc > 2 ? atoll(argv[2]) : 2048;
  const uint64_t rows = (uint64_t)position + kWarmup + kTokens + 1;
  static uint64_t arguments[kArgWords], prepare_arguments[kPrepareArgWords + 1];
  void *patterns[kElements], *context, *module, *megakernel, *begin, *end;
  int device, multiprocessors, i;
  uint64_t token;
  float milliseconds;
  char name[128] = "";
  if (position < 0 || position > 1 << 24) fprintf(stderr, "rows: a number from 0 to %d\n", 1 << 24), exit(2);
  load_driver();
  must(cu.init(0), "cuInit"), must(cu.device(&device, 0), "cuDeviceGet"), cu.name(name, sizeof name - 1, device);
  must(cu.attribute(&multiprocessors, kMultiprocessors, device), "cuDeviceGetAttribute");
  must(cu.retain(&context, device), "cuDevicePrimaryCtxRetain"), must(cu.current(context), "cuCtxSetCurrent");
  must(cu.load(&module, read_whole(path)), "cuModuleLoadData");
  megakernel = function_of(module, &k_megakernel);
  for (i = 0; i < kElements; ++i) patterns[i] = make_pattern((enum element)i);
  for (i = 0; i < kTensors; ++i) {
    const struct tensor* tensor = &k_tensors[i];
    const uint64_t bytes = tensor->is_cache ? tensor->bytes * rows : tensor->bytes;
    const CUdeviceptr pointer = allocate(bytes, tensor->name);
    fill(pointer, bytes, patterns[tensor->element]);
    arguments[tensor->word] = pointer;
    if (tensor->prepare_word >= 0) prepare_arguments[tensor->prepare_word] = pointer;
  }
  arguments[kWordPrepared] = prepare_arguments[kPrepareWordPrepared] = allocate(kPreparedBytes, "prepared");
  arguments[kWordSync] = allocate(kSyncBytes, "sync");
  if (kSyncBytes > 0) must(cu.zero(arguments[kWordSync], 0, kSyncBytes), "cuMemsetD8");
  arguments[kWordScratch] = allocate(kScratchBytes, "scratch");
  arguments[kWordCapacity] = rows;
  for (i = 0; i < kPrepares; ++i) run(function_of(module, &k_prepares[i]), &k_prepares[i], multiprocessors, 0, prepare_arguments);
  must(cu.synchronize(), "preparing");
  must(cu.event(&begin, 0), "cuEventCreate"), must(cu.event(&end, 0), "cuEventCreate");
  for (token = 0; token < kWarmup + kTokens; ++token) {
    if (token == kWarmup) must(cu.record(begin, NULL), "cuEventRecord");
    arguments[kWordPosition] = (uint64_t)position + token, arguments[kWordEpoch] = token;
    run(megakernel, &k_megakernel, multiprocessors, 1, arguments);
  }
  must(cu.record(end, NULL), "cuEventRecord"), must(cu.synchronize(), "running");
  must(cu.elapsed(&milliseconds, begin, end), "cuEventElapsedTime");
  printf("%s: %.2f us a token, one cooperative launch of %u x %u each, %d tokens from position %lld, weights not rotated\n", name,
         milliseconds * 1e3 / kTokens, k_megakernel.grid * (k_megakernel.per_sm ? (unsigned)multiprocessors : 1u), k_megakernel.block,
         kTokens, position + kWarmup);
  return 0;
}
