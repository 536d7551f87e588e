#include "tasks/ops/eager_builder.h"

#include <algorithm>
#include <bit>

#include "base/check.h"

namespace onelaunch::tasks {
namespace {

constexpr const char* kTypes[] = {"using Sum = float;\n", "using Sum = double;\n"};

// What every kernel may use; all arithmetic is in Sum. Reductions leave the result in every thread of a block of 256, or of 32 * warps.
constexpr const char* kPrelude = R"cuda(
__device__ inline Sum load(const bf16* p, long long i) { return __bfloat162float(p[i]); }
__device__ inline Sum load(const float* p, long long i) { return p[i]; }
__device__ inline void store(bf16* p, long long i, float value) { p[i] = __float2bfloat16_rn(value); }
// Rounded to odd on the way, so that it is rounded to nearest only once.
__device__ inline void store(bf16* p, long long i, double value) {
  const float toward_zero = __double2float_rz(value);
  p[i] = __float2bfloat16_rn(__uint_as_float(__float_as_uint(toward_zero) | (toward_zero != value)));
}
__device__ inline void store(float* p, long long i, Sum value) { p[i] = value; }
// Eight neighbours from a multiple of eight on, 16 bytes at a time.
template <class T>
__device__ inline void load8(const bf16* p, long long i, T (&value)[8]) {
  const uint4 words = *(const uint4*)(p + i);
  const unsigned word[4] = {words.x, words.y, words.z, words.w};
#pragma unroll
  for (int j = 0; j < 4; ++j) {
    value[2 * j] = __uint_as_float(word[j] << 16);
    value[2 * j + 1] = __uint_as_float(word[j] & 0xffff0000u);
  }
}
template <class T>
__device__ inline void load8(const float* p, long long i, T (&value)[8]) {
#pragma unroll
  for (int j = 0; j < 2; ++j) {
    const float4 four = *(const float4*)(p + i + 4 * j);
    value[4 * j] = four.x, value[4 * j + 1] = four.y, value[4 * j + 2] = four.z, value[4 * j + 3] = four.w;
  }
}
__device__ inline Sum sigmoid(Sum x) { return Sum(1) / (Sum(1) + exp(-x)); }
__device__ inline Sum silu(Sum x) { return x * sigmoid(x); }

__device__ inline Sum warp_sum(Sum value) {
  for (int step = 16; step > 0; step /= 2) value += __shfl_xor_sync(0xffffffffu, value, step);
  return value;
}
__device__ inline Sum warp_max(Sum value) {
  for (int step = 16; step > 0; step /= 2) value = max(value, __shfl_xor_sync(0xffffffffu, value, step));
  return value;
}
template <int warps = 8>
__device__ inline Sum block_sum(Sum value) {
  __shared__ Sum part[warps];
  value = warp_sum(value);
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = value;
  __syncthreads();
  const Sum sum = warp_sum(threadIdx.x % 32 < warps ? part[threadIdx.x % 32] : 0);
  __syncthreads();
  return sum;
}
template <int warps = 8>
__device__ inline Sum block_max(Sum value) {
  __shared__ Sum part[warps];
  value = warp_max(value);
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = value;
  __syncthreads();
  const Sum top = warp_max(part[threadIdx.x % 32 < warps ? threadIdx.x % 32 : 0]);
  __syncthreads();
  return top;
}
// Lanes that are equal modulo 32 / count add what they hold, `count` sums each, a power of two. Lane l is left with the
// one of index l / (32 / count).
template <int count>
__device__ inline Sum summed(Sum (&value)[count]) {
  const int lane = threadIdx.x % 32;
  int step = 16;
#pragma unroll
  for (int half = count / 2; half > 0; half /= 2, step /= 2) {
    const bool upper = lane & step;
#pragma unroll
    for (int i = 0; i < half; ++i) {
      const Sum given = upper ? value[i] : value[i + half];
      value[i] = (upper ? value[i + half] : value[i]) + __shfl_xor_sync(0xffffffffu, given, step);
    }
  }
  return value[0];
}
)cuda";

std::string pointer_to(DType dtype) {
  switch (dtype) {
    case DType::f32:
      return "float*";
    case DType::bf16:
      return "bf16*";
    case DType::u8:
      return "unsigned char*";
    case DType::i32:
      return "int*";
  }
  OL_CHECK(false, "a dtype without a C type");
}

}  // namespace

void EagerBuilder::source(const char* device_functions) {
  if (std::find(sources_.begin(), sources_.end(), device_functions) == sources_.end())
    sources_.push_back(device_functions);
}

EagerOperand EagerBuilder::buffer(const std::string& name, std::int64_t elements, DType dtype) {
  if (buffer_names_.insert(name).second)
    plan_.buffers.push_back({name, static_cast<std::size_t>(elements) * element_bytes(dtype)});
  return {EagerArgument::Kind::buffer, name, pointer_to(dtype)};
}

EagerOperand EagerBuilder::of(const Operand& operand) {
  return {EagerArgument::Kind::buffer, operand.name, pointer_to(operand.dtype)};
}

EagerOperand EagerBuilder::part(const Operand& int4_weight, const char* member) {
  const bool packed = std::string(member) == "packed";
  return {EagerArgument::Kind::buffer, int4_weight.name + "." + member, packed ? "unsigned char*" : "bf16*"};
}

void EagerBuilder::launch(const OpView& view, const EagerKernel& kernel) {
  std::string parameters, names;
  EagerLaunch launch;
  for (const EagerOperand& operand : kernel.operands) {
    const std::string name = "a" + std::to_string(launch.arguments.size());
    parameters += (names.empty() ? "" : ", ") + operand.type + " " + name;
    names += (names.empty() ? "" : ", ") + name;
    launch.arguments.push_back({operand.kind, operand.buffer});
  }
  const std::string key = kernel.function + "(" + parameters + ")" + std::to_string(kernel.block);
  const auto [entry, fresh] = entries_.try_emplace(key, "eager_" + std::to_string(entries_.size()));
  if (fresh)
    wrappers_ += "\nextern \"C\" __global__ void __launch_bounds__(" + std::to_string(kernel.block) + ") " +
                 entry->second + "(" + parameters + ") {\n  " + kernel.function + "(" + names + ");\n}\n";
  launch.op = view.op->name;
  launch.entry = entry->second;
  launch.grid = static_cast<unsigned>(kernel.grid);
  launch.block = static_cast<unsigned>(kernel.block);
  launch.dynamic_smem = 0;
  plan_.launches.push_back(std::move(launch));
}

EagerPlan EagerBuilder::take() {
  plan_.source = "// One kernel an op, as a framework would run it. Generated from the task.\n";
  plan_.source += "#include <cuda_bf16.h>\nusing bf16 = __nv_bfloat16;\n";
  plan_.source += kTypes[sums_ == EagerSums::f64];
  plan_.source += kPrelude;
  for (const char* text : sources_) plan_.source += text;
  plan_.source += wrappers_;
  return std::move(plan_);
}

std::int64_t double_bits(double value) { return std::bit_cast<std::int64_t>(value); }

std::string instance(const std::string& function, std::initializer_list<std::int64_t> constants) {
  std::string text;
  for (const std::int64_t constant : constants) text += (text.empty() ? "" : ", ") + std::to_string(constant);
  return function + "<" + text + ">";
}

}  // namespace onelaunch::tasks
