#pragma once
// The library's blocks once more, as plain scalar loops written from their formulas, sharing no code with the ops:
// one entry at a time, attention with materialised keys and values. Slow, for tiny shapes.

#include <map>
#include <string>
#include <vector>

#include "tests/tasks/ops/chain.h"

namespace onelaunch::tasks {

using Vector = std::vector<double>;

class BlockReference {
 public:
  explicit BlockReference(const Chain& chain);

  Vector kimi_step(const Vector& token);
  Vector llama_step(const Vector& token);
  Vector state(const std::string& name) const { return states_.at(name); }

 private:
  std::int64_t dim(const std::string& name) const { return chain_.task.dims.at(name); }
  Vector plain(const std::string& name) const;
  double int4(const std::string& name, std::int64_t expert, std::int64_t k, std::int64_t column) const;
  std::uint16_t half_word(const std::string& name, std::size_t i) const;
  Vector norm(const Vector& x, const std::string& weight, double eps) const;
  Vector rows(const std::string& weight, const Vector& x) const;                          // bf16 (out, in)
  Vector columns(const std::string& weight, std::int64_t expert, const Vector& x) const;  // int4, not rounded
  Vector convolve(const std::string& layer, const std::string& which, const Vector& raw);
  Vector kda(const std::string& layer, const Vector& n);
  Vector mla(const std::string& layer, const Vector& n);
  Vector swiglu(const std::string& layer, const std::string& prefix, std::int64_t expert, const Vector& n) const;
  Vector moe(const std::string& layer, const Vector& n) const;
  Vector llama_attention(const std::string& layer, const Vector& n);

  const Chain& chain_;
  std::map<std::string, std::pair<std::size_t, DType>> places_;
  std::map<std::string, Vector> states_;
  std::int64_t position_;
};

Vector decoded(const Bytes& bytes, DType dtype);
double relative_error(const Vector& got, const Vector& want);  // of the norms
double to_bf16(double value);
Vector to_bf16(Vector values);

}  // namespace onelaunch::tasks
