#include "tasks/ops/run.h"

#include "base/bfloat16.h"
#include "base/check.h"

namespace onelaunch::tasks {
namespace {

// Tensors are aligned to their elements: arenas are page-aligned, vectors come from operator new.
template <class T, class B>
std::span<T> as(std::span<B> bytes) {
  return {reinterpret_cast<T*>(bytes.data()), bytes.size() / sizeof(T)};
}

}  // namespace

std::span<const std::uint16_t> OpRun::bf16(std::size_t i) const {
  OL_CHECK(view.in[i].dtype == DType::bf16, view.in[i].name + " is read as bf16");
  return as<const std::uint16_t>(in_[i].bytes);
}

std::vector<double> OpRun::doubles(std::size_t i) const {
  if (!in_[i].values.empty()) return {in_[i].values.begin(), in_[i].values.end()};
  std::vector<double> values;
  values.reserve(static_cast<std::size_t>(view.in[i].elements()));
  if (view.in[i].dtype == DType::bf16)
    for (const std::uint16_t bits : as<const std::uint16_t>(in_[i].bytes)) values.push_back(bf16_to_float(bits));
  else
    for (const float value : as<const float>(in_[i].bytes)) values.push_back(value);
  return values;
}

Int4Matrix OpRun::int4(std::size_t i, std::int64_t expert) const {
  const Quantised& weight = *view.in[i].quantised;
  const std::int64_t pairs = weight.in / 2 * weight.out, scales = weight.in / weight.group * weight.out;
  return {.packed = as<const std::uint8_t>(in_[i].packed).data() + expert * pairs,
          .scale = as<const std::uint16_t>(in_[i].scale).data() + expert * scales,
          .zero = as<const std::uint16_t>(in_[i].zero).data() + expert * scales,
          .in = weight.in,
          .out = weight.out,
          .group = weight.group};
}

std::span<std::uint16_t> OpRun::bf16_state(std::size_t i) const { return as<std::uint16_t>(out_[i].writable); }
std::span<float> OpRun::f32_state(std::size_t i) const { return as<float>(out_[i].writable); }

}  // namespace onelaunch::tasks
