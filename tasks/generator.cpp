#include "tasks/generator.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <thread>

#include "base/bfloat16.h"
#include "base/check.h"
#include "tasks/philox.h"
#include "tasks/quantiles.h"
#include "tasks/quantise.h"

namespace onelaunch::tasks {
namespace {

constexpr std::int64_t kColumnTile = 64;     // of an int4 weight: 128 x 64 floats stay in the first-level cache
constexpr std::int64_t kPlainJob = 1 << 18;  // elements of another weight that one job fills
constexpr std::int64_t kChunk = 1024;        // elements that are drawn at once
constexpr std::uint32_t kSpreadStream = 0x80000000, kOutlierStream = 0x40000000, kSwingStream = 0xC0000000;
constexpr std::uint32_t kMarksId = 0;     // of no tensor
constexpr std::uint64_t kChannels = 128;  // of which one is marked

// One sequence of random halves: see tasks/FORMAT.md.
struct Source {
  std::uint64_t seed;
  std::uint32_t id, stream;

  PhiloxWords words(std::uint64_t block, std::uint32_t in_stream) const {
    return philox({id, static_cast<std::uint32_t>(block), static_cast<std::uint32_t>(block >> 32), in_stream},
                  {static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)});
  }
};

void eight_quantiles(const Source& source, const float* table, std::uint64_t block, float* out) {
  const PhiloxWords words = source.words(block, source.stream);
  for (std::size_t w = 0; w < 4; ++w) {
    out[2 * w] = table[words[w] & 0xffff];
    out[2 * w + 1] = table[words[w] >> 16];
  }
}

// Quantiles of the elements first to first + count.
void draw_quantiles(const Source& source, std::uint64_t first, std::int64_t count, float* out) {
  const float* table = normal_quantiles().data();
  while (count > 0) {
    const std::uint64_t skip = first % 8;
    if (skip == 0 && count >= 8) {
      eight_quantiles(source, table, first / 8, out);
      first += 8, count -= 8, out += 8;
      continue;
    }
    float eight[8];
    eight_quantiles(source, table, first / 8, eight);
    const std::int64_t taken = std::min<std::int64_t>(count, static_cast<std::int64_t>(8 - skip));
    std::copy_n(eight + skip, taken, out);
    first += static_cast<std::uint64_t>(taken), count -= taken, out += taken;
  }
}

// 2^x for |x| <= 16 with a straight line between powers of two: the same bits everywhere.
float power_of_two(double x) {
  const double whole = std::floor(x);
  return static_cast<float>(std::ldexp(1.0 + (x - whole), static_cast<int>(whole)));
}

float spread_factor(const Source& source, const Distribution& drawn, std::int64_t slice) {
  const std::uint32_t word = source.words(static_cast<std::uint64_t>(slice), source.stream ^ kSpreadStream)[0];
  const double unit = static_cast<double>(word) / 4294967296.0;
  return power_of_two(drawn.spread * (2 * unit - 1));
}

// The marked one of the group's channels.
std::uint64_t marked_channel(std::uint64_t seed, std::uint64_t group) {
  return Source{seed, kMarksId, 0}.words(group, 0)[0] % kChannels;
}

// Each eight elements have an outlier with a probability of one in eight.
void stretch_outliers(const Source& source, float by, std::uint64_t first, std::int64_t count, float* out) {
  const std::uint64_t end = first + static_cast<std::uint64_t>(count);
  for (std::uint64_t block = first / 8; block * 8 < end; ++block) {
    const std::uint32_t word = source.words(block, source.stream ^ kOutlierStream)[0];
    const std::uint64_t at = block * 8 + word % 8;
    if (word / 8 % 8 == 0 && at >= first && at < end) out[at - first] *= by;
  }
}

void multiply_marked(const Source& source, float by, std::int64_t channels, std::uint64_t first, std::int64_t count,
                     float* out) {
  std::uint64_t group = ~std::uint64_t{0}, mark = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    const std::uint64_t channel = (first + static_cast<std::uint64_t>(i)) % static_cast<std::uint64_t>(channels);
    if (channel / kChannels != group) mark = marked_channel(source.seed, group = channel / kChannels);
    if (channel % kChannels == mark) out[i] *= by;
  }
}

// Values of the elements first to first + count; `slice` elements share a factor of a spread.
void draw_values(const Source& source, const Distribution& drawn, std::int64_t slice, std::uint64_t first,
                 std::int64_t count, float* out) {
  const float scale = static_cast<float>(drawn.scale), mean = static_cast<float>(drawn.mean);
  if (drawn.kind != Distribution::Kind::normal) {
    std::fill_n(out, count, drawn.kind == Distribution::Kind::constant ? scale : 0.0f);
    return;
  }
  draw_quantiles(source, first, count, out);
  if (drawn.outlier != 1) stretch_outliers(source, static_cast<float>(drawn.outlier), first, count, out);
  if (drawn.spread == 0) {
    for (std::int64_t i = 0; i < count; ++i) out[i] = out[i] * scale + mean;
    return;
  }
  std::int64_t current = -1;
  float factor = 1;
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t index = (static_cast<std::int64_t>(first) + i) / slice;
    if (index != current) factor = spread_factor(source, drawn, current = index);
    out[i] = out[i] * (scale * factor) + mean;
  }
}

// Any three steps in a row fall into different thirds of the swing.
float swing_factor(const Source& source, const Distribution& drawn, int step) {
  if (drawn.swing == 0) return 1;
  const double unit =
      static_cast<double>(source.words(0, kSwingStream)[0]) / 4294967296.0 + static_cast<double>(step % 3) / 3.0;
  return power_of_two(-drawn.swing * (unit - std::floor(unit)));
}

template <class T>
void store_rounded(const float* values, std::int64_t count, T least, T most, std::byte* out) {
  for (std::int64_t i = 0; i < count; ++i) {
    const float bounded = std::clamp(std::nearbyint(values[i]), static_cast<float>(least), static_cast<float>(most));
    const T value = static_cast<T>(bounded);
    std::memcpy(out + static_cast<std::size_t>(i) * sizeof value, &value, sizeof value);
  }
}

void store(DType dtype, const float* values, std::int64_t count, std::byte* out) {
  switch (dtype) {
    case DType::f32:
      std::memcpy(out, values, static_cast<std::size_t>(count) * sizeof(float));
      return;
    case DType::bf16:
      for (std::int64_t i = 0; i < count; ++i) {
        const std::uint16_t bits = float_to_bf16(values[i]);
        std::memcpy(out + 2 * i, &bits, sizeof bits);
      }
      return;
    case DType::u8:
      return store_rounded<std::uint8_t>(values, count, 0, 255, out);
    case DType::i32:
      return store_rounded<std::int32_t>(values, count, -(1 << 24), 1 << 24, out);
  }
}

const Distribution& chosen(const Tensor& tensor, InputSet set) {
  return set == InputSet::strict ? tensor.strict : tensor.nominal;
}

// `factor` multiplies all values.
void fill_range(const Tensor& tensor, const Distribution& drawn, const Source& source, std::int64_t first,
                std::int64_t end, std::byte* out, float factor = 1) {
  std::int64_t slice = 1;
  for (std::size_t i = 1; i < tensor.shape.size(); ++i) slice *= tensor.shape[i];
  float values[kChunk];
  for (std::int64_t at = first; at < end; at += kChunk) {
    const std::int64_t count = std::min(kChunk, end - at);
    draw_values(source, drawn, slice, static_cast<std::uint64_t>(at), count, values);
    if (drawn.marked != 1)
      multiply_marked(source, static_cast<float>(drawn.marked), tensor.shape.back(), static_cast<std::uint64_t>(at),
                      count, values);
    if (factor != 1)
      for (std::int64_t i = 0; i < count; ++i) values[i] *= factor;
    store(tensor.dtype, values, count, out + static_cast<std::size_t>(at) * element_bytes(tensor.dtype));
  }
}

// What one thread does at a time: a range of a plain weight, or one group of rows of an int4 weight.
struct Job {
  const Tensor* tensor = nullptr;
  const Quantised* quantised = nullptr;
  std::byte* packed = nullptr;  // or the tensor's first byte
  std::byte* scale = nullptr;
  std::byte* zero = nullptr;
  std::int64_t index = 0;  // of the range, or of the group among all experts' groups
};

void fill_group(const Job& job, std::uint64_t seed, InputSet set) {
  const Quantised& weight = *job.quantised;
  const Distribution& drawn = set == InputSet::strict ? weight.strict : weight.nominal;
  const Source source{seed, weight.id, 0};
  const std::int64_t first_row = job.index * kQuantGroup, group = job.index % (weight.in / kQuantGroup);
  const std::int64_t marked = drawn.marked == 1
                                  ? kQuantGroup
                                  : static_cast<std::int64_t>(marked_channel(seed, static_cast<std::uint64_t>(group)));
  float values[kQuantGroup * kColumnTile];
  for (std::int64_t column = 0; column < weight.out; column += kColumnTile) {
    const std::int64_t columns = std::min(kColumnTile, weight.out - column);
    for (std::int64_t row = 0; row < kQuantGroup; ++row)
      draw_values(source, drawn, weight.in * weight.out,
                  static_cast<std::uint64_t>((first_row + row) * weight.out + column), columns, values + row * columns);
    if (marked < kQuantGroup) std::fill_n(values + marked * columns, columns, 0.0f);
    const std::int64_t scales = job.index * weight.out + column;
    quantise_group(
        values, columns,
        {.packed = reinterpret_cast<std::uint8_t*>(job.packed) + job.index * (kQuantGroup / 2) * weight.out + column,
         .scale = reinterpret_cast<std::uint16_t*>(job.scale) + scales,
         .zero = reinterpret_cast<std::uint16_t*>(job.zero) + scales,
         .stride = weight.out});
  }
}

void run(const Job& job, std::uint64_t seed, InputSet set) {
  if (job.quantised != nullptr) return fill_group(job, seed, set);
  const std::int64_t first = job.index * kPlainJob;
  const std::int64_t end = std::min(first + kPlainJob, job.tensor->elements(0));
  fill_range(*job.tensor, chosen(*job.tensor, set), {seed, job.tensor->id, 0}, first, end, job.packed);
}

std::vector<Job> jobs_of(const Task& task, std::span<std::byte> bytes) {
  const WeightArena arena = weight_arena(task);
  OL_CHECK(bytes.size() >= arena.bytes, "the arena is too small");
  std::vector<Job> jobs;
  for (std::size_t i = 0; i < arena.places.size(); ++i) {
    const Tensor& tensor = *arena.places[i].tensor;
    Job job{.tensor = &tensor, .packed = bytes.data() + arena.places[i].offset};
    std::int64_t count = (tensor.elements(0) + kPlainJob - 1) / kPlainJob;
    if (tensor.name.ends_with(".packed"))
      job.quantised = task.find_quantised(tensor.name.substr(0, tensor.name.rfind('.')));
    if (job.quantised != nullptr) {
      job.scale = bytes.data() + arena.places[i + 1].offset;
      job.zero = bytes.data() + arena.places[i + 2].offset;
      count = job.quantised->experts * job.quantised->in / kQuantGroup;
      i += 2;
    }
    for (job.index = 0; job.index < count; ++job.index) jobs.push_back(job);
  }
  return jobs;
}

std::vector<float> make_table() {
  constexpr std::size_t kHalf = 32768;
  std::vector<float> table(2 * kHalf);
  for (std::size_t i = 0; i < kHalf; ++i) {
    table[i] = static_cast<float>(normal_quantile((static_cast<double>(i) + 0.5) / 65536.0));
    table[2 * kHalf - 1 - i] = -table[i];
  }
  return table;
}

}  // namespace

std::array<std::uint32_t, 4> philox4x32(std::array<std::uint32_t, 4> counter, std::array<std::uint32_t, 2> key) {
  return philox(counter, key);
}

std::span<const float, 65536> normal_quantiles() {
  static const std::vector<float> table = make_table();
  return std::span<const float, 65536>(table.data(), 65536);
}

WeightArena weight_arena(const Task& task) {
  WeightArena arena;
  for (const Tensor& tensor : task.tensors) {
    if (tensor.role != Role::weight) continue;
    const std::size_t bytes = tensor.bytes(0);
    arena.places.push_back({&tensor, arena.bytes, bytes});
    arena.bytes = (arena.bytes + bytes + kWeightAlignment - 1) / kWeightAlignment * kWeightAlignment;
  }
  return arena;
}

void fill_weights(const Task& task, std::uint64_t seed, InputSet set, std::span<std::byte> arena, int threads) {
  const std::vector<Job> jobs = jobs_of(task, arena);
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    for (std::size_t i = next++; i < jobs.size(); i = next++) run(jobs[i], seed, set);
  };
  std::vector<std::thread> others;
  for (int i = 1; i < threads; ++i) others.emplace_back(work);
  work();
  for (std::thread& other : others) other.join();
}

void fill_tensor(const Task& task, const Tensor& tensor, std::uint64_t seed, InputSet set, std::int64_t context,
                 std::span<std::byte> out) {
  OL_CHECK(task.find(tensor.name) == &tensor, "the tensor is the task's own");
  std::int64_t row = 1;
  for (std::size_t i = 1; i < tensor.shape.size(); ++i) row *= tensor.shape[i];
  const std::int64_t drawn = tensor.is_cache() ? context * row : tensor.elements(0);
  OL_CHECK(out.size() >= static_cast<std::size_t>(drawn) * element_bytes(tensor.dtype), "the buffer is too small");
  fill_range(tensor, chosen(tensor, set), {seed, tensor.id, 0}, 0, drawn, out.data());
  const std::size_t used = static_cast<std::size_t>(drawn) * element_bytes(tensor.dtype);
  std::fill(out.begin() + static_cast<std::ptrdiff_t>(used), out.end(), std::byte{0});
}

void fill_token(const Task& task, const Tensor& input, std::uint64_t seed, InputSet set, int step, int draw,
                std::span<std::byte> out) {
  OL_CHECK(task.find(input.name) == &input && out.size() >= input.bytes(0), "the input is the task's own and fits");
  OL_CHECK(step >= 0 && step < (1 << 22) && draw >= 0 && draw < 256, "step and draw fit the counter");
  const std::uint32_t stream = 1 + static_cast<std::uint32_t>(step) * 256 + static_cast<std::uint32_t>(draw);
  const Distribution& drawn = chosen(input, set);
  const Source source{seed, input.id, stream};
  fill_range(input, drawn, source, 0, input.elements(0), out.data(), swing_factor({seed, input.id, 0}, drawn, step));
}

}  // namespace onelaunch::tasks
