#pragma once
// The oracle's hot loops. Sums are in double, in an order that depends on neither threads nor the machine.

#include <cstdint>
#include <span>
#include <vector>

#include "tasks/ops/run.h"

namespace onelaunch::tasks {

// y[c] = sum over k of x[k] * w[k][c].
struct Int4Product {
  Int4Matrix weight;
  const double* x;  // weight.in
  double* y;        // weight.out
};
void multiply(ThreadPool& pool, std::span<const Int4Product> products);

// The matrix itself, row-major (in, out). Its values are bf16, so float holds them exactly.
std::vector<float> dequantised(ThreadPool& pool, const Int4Matrix& weight);

// y[r] = sum over k of weight[r][k] * x[k], weight row-major bf16 (rows, x.size()).
void multiply_rows(ThreadPool& pool, std::span<const std::uint16_t> weight, std::span<const double> x,
                   std::span<double> y);

void widen(const std::uint16_t* bf16, std::int64_t count, double* out);
double dot(const double* a, const double* b, std::int64_t count);
double dot(const float* a, const double* b, std::int64_t count);
void add_scaled(double factor, const double* x, std::int64_t count, double* y);  // y += factor * x
void add_scaled(double factor, const float* x, std::int64_t count, double* y);

double sigmoid(double x);
double silu(double x);

// Scores become weights that sum to one.
void softmax(std::span<double> scores);

}  // namespace onelaunch::tasks
