#include "tasks/ops/dense.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "base/bfloat16.h"

// Wider vectors where the machine has them: the same additions in the same order, so the same results.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__)
#define ONELAUNCH_WIDE __attribute__((target_clones("default", "avx2")))
#else
#define ONELAUNCH_WIDE
#endif

namespace onelaunch::tasks {
namespace {

constexpr std::int64_t kColumns = 256;  // that a thread takes at once; their sums stay in the first-level cache
constexpr int kLanes = 16;              // partial sums of a dot product

std::size_t index_of(std::int64_t i) { return static_cast<std::size_t>(i); }

// Rounds a finite float to bf16.
inline float rounded(float value) {
  std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
  bits += 0x7fff + ((bits >> 16) & 1);
  return std::bit_cast<float>(bits & 0xffff0000u);
}

// (q - zero) * scale has 12 significant bits at most: exact in float, rounded once.
inline float weight_of(int q, float zero, float scale) { return rounded((static_cast<float>(q) - zero) * scale); }

struct GroupScales {
  float scale[kColumns], zero[kColumns];
};

inline void load_scales(const Int4Matrix& w, std::int64_t group, std::int64_t first, int columns, GroupScales& scales) {
  const std::uint16_t* scale = w.scale + group * w.out + first;
  const std::uint16_t* zero = w.zero + group * w.out + first;
  for (int c = 0; c < columns; ++c) {
    scales.scale[c] = std::bit_cast<float>(std::uint32_t{scale[c]} << 16);
    scales.zero[c] = std::bit_cast<float>(std::uint32_t{zero[c]} << 16);
  }
}

ONELAUNCH_WIDE
void multiply_columns(const Int4Matrix& w, const double* x, std::int64_t first, int columns, double* y) {
  double sum[kColumns] = {};
  GroupScales scales;
  for (std::int64_t group = 0; group < w.in / w.group; ++group) {
    load_scales(w, group, first, columns, scales);
    for (std::int64_t k = group * w.group; k < (group + 1) * w.group; k += 2) {
      const std::uint8_t* packed = w.packed + k / 2 * w.out + first;
      const double even = x[k], odd = x[k + 1];
      for (int c = 0; c < columns; ++c) {
        const float low = weight_of(packed[c] & 15, scales.zero[c], scales.scale[c]);
        const float high = weight_of(packed[c] >> 4, scales.zero[c], scales.scale[c]);
        sum[c] = sum[c] + even * static_cast<double>(low) + odd * static_cast<double>(high);
      }
    }
  }
  for (int c = 0; c < columns; ++c) y[c] = sum[c];
}

ONELAUNCH_WIDE
void dequantise_columns(const Int4Matrix& w, std::int64_t first, int columns, float* out) {
  GroupScales scales;
  for (std::int64_t group = 0; group < w.in / w.group; ++group) {
    load_scales(w, group, first, columns, scales);
    for (std::int64_t k = group * w.group; k < (group + 1) * w.group; k += 2) {
      const std::uint8_t* packed = w.packed + k / 2 * w.out + first;
      float* row = out + k * w.out + first;
      for (int c = 0; c < columns; ++c) {
        row[c] = weight_of(packed[c] & 15, scales.zero[c], scales.scale[c]);
        row[w.out + c] = weight_of(packed[c] >> 4, scales.zero[c], scales.scale[c]);
      }
    }
  }
}

template <class A>
inline double lanewise_dot(const A* a, const double* b, std::int64_t count) {
  double lane[kLanes] = {};
  std::int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes)
    for (int l = 0; l < kLanes; ++l) lane[l] += static_cast<double>(a[i + l]) * b[i + l];
  for (int l = 0; i + l < count; ++l) lane[l] += static_cast<double>(a[i + l]) * b[i + l];
  double sum = 0;
  for (const double part : lane) sum += part;
  return sum;
}

ONELAUNCH_WIDE double dot_of_doubles(const double* a, const double* b, std::int64_t count) {
  return lanewise_dot(a, b, count);
}
ONELAUNCH_WIDE double dot_of_floats(const float* a, const double* b, std::int64_t count) {
  return lanewise_dot(a, b, count);
}

ONELAUNCH_WIDE void widen_row(const std::uint16_t* bf16, std::int64_t count, double* out) {
  for (std::int64_t i = 0; i < count; ++i) out[i] = std::bit_cast<float>(std::uint32_t{bf16[i]} << 16);
}

ONELAUNCH_WIDE void add_scaled_doubles(double factor, const double* x, std::int64_t count, double* y) {
  for (std::int64_t i = 0; i < count; ++i) y[i] += factor * x[i];
}
ONELAUNCH_WIDE void add_scaled_floats(double factor, const float* x, std::int64_t count, double* y) {
  for (std::int64_t i = 0; i < count; ++i) y[i] += factor * static_cast<double>(x[i]);
}

std::int64_t blocks_of(const Int4Matrix& weight) { return (weight.out + kColumns - 1) / kColumns; }

}  // namespace

void multiply(ThreadPool& pool, std::span<const Int4Product> products) {
  std::vector<std::pair<std::size_t, std::int64_t>> tasks;  // product, first column
  for (std::size_t p = 0; p < products.size(); ++p)
    for (std::int64_t block = 0; block < blocks_of(products[p].weight); ++block)
      tasks.emplace_back(p, block * kColumns);
  pool.for_each(tasks.size(), [&](std::size_t t) {
    const auto [p, first] = tasks[t];
    const Int4Product& product = products[p];
    const int columns = static_cast<int>(std::min(kColumns, product.weight.out - first));
    multiply_columns(product.weight, product.x, first, columns, product.y + first);
  });
}

std::vector<float> dequantised(ThreadPool& pool, const Int4Matrix& weight) {
  std::vector<float> matrix(index_of(weight.in * weight.out));
  pool.for_each(index_of(blocks_of(weight)), [&](std::size_t block) {
    const std::int64_t first = static_cast<std::int64_t>(block) * kColumns;
    dequantise_columns(weight, first, static_cast<int>(std::min(kColumns, weight.out - first)), matrix.data());
  });
  return matrix;
}

void multiply_rows(ThreadPool& pool, std::span<const std::uint16_t> weight, std::span<const double> x,
                   std::span<double> y) {
  constexpr std::size_t kRows = 32;
  pool.for_each((y.size() + kRows - 1) / kRows, [&](std::size_t block) {
    std::vector<double> row(x.size());
    for (std::size_t r = block * kRows; r < std::min(y.size(), (block + 1) * kRows); ++r) {
      widen(weight.data() + r * x.size(), std::ssize(x), row.data());
      y[r] = dot(row.data(), x.data(), std::ssize(x));
    }
  });
}

void widen(const std::uint16_t* bf16, std::int64_t count, double* out) { widen_row(bf16, count, out); }
double dot(const double* a, const double* b, std::int64_t count) { return dot_of_doubles(a, b, count); }
double dot(const float* a, const double* b, std::int64_t count) { return dot_of_floats(a, b, count); }
void add_scaled(double factor, const double* x, std::int64_t count, double* y) {
  add_scaled_doubles(factor, x, count, y);
}
void add_scaled(double factor, const float* x, std::int64_t count, double* y) {
  add_scaled_floats(factor, x, count, y);
}

double sigmoid(double x) { return 1.0 / (1.0 + std::exp(-x)); }
double silu(double x) { return x * sigmoid(x); }

void softmax(std::span<double> scores) {
  const double top = *std::max_element(scores.begin(), scores.end());
  double sum = 0;
  for (double& score : scores) sum += score = std::exp(score - top);
  for (double& score : scores) score /= sum;
}

}  // namespace onelaunch::tasks
