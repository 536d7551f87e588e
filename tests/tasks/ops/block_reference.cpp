#include "tests/tasks/ops/block_reference.h"

#include <cmath>
#include <cstring>

#include "base/bfloat16.h"

namespace onelaunch::tasks {
namespace {

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

Vector plus(const Vector& a, const Vector& b) {
  Vector sum(a.size());
  for (std::size_t i = 0; i < a.size(); ++i) sum[i] = a[i] + b[i];
  return sum;
}

double logistic(double x) { return std::exp(x) / (std::exp(x) + 1); }

}  // namespace

double to_bf16(double value) { return bf16_to_float(double_to_bf16(value)); }
Vector to_bf16(Vector values) {
  for (double& value : values) value = to_bf16(value);
  return values;
}

Vector decoded(const Bytes& bytes, DType dtype) {
  Vector values(bytes.size() / element_bytes(dtype));
  for (std::size_t i = 0; i < values.size(); ++i) {
    std::uint16_t half = 0;
    float whole = 0;
    if (dtype == DType::bf16)
      std::memcpy(&half, &bytes[i * 2], 2), whole = bf16_to_float(half);
    else
      std::memcpy(&whole, &bytes[i * 4], 4);
    values[i] = whole;
  }
  return values;
}

double relative_error(const Vector& got, const Vector& want) {
  OL_CHECK(got.size() == want.size(), "vectors of different sizes");
  double error = 0, size = 0;
  for (std::size_t i = 0; i < want.size(); ++i) {
    error += (got[i] - want[i]) * (got[i] - want[i]);
    size += want[i] * want[i];
  }
  return std::sqrt(error / size);
}

BlockReference::BlockReference(const Chain& chain) : chain_(chain), position_(chain.context) {
  for (const WeightArena::Place& place : weight_arena(chain.task).places)
    places_[place.tensor->name] = {place.offset, place.tensor->dtype};
  const auto tensors = chain.task.with(Role::state);
  for (std::size_t i = 0; i < tensors.size(); ++i)
    states_[tensors[i]->name] = decoded(chain.states[i], tensors[i]->dtype);
}

std::uint16_t BlockReference::half_word(const std::string& name, std::size_t i) const {
  std::uint16_t half = 0;
  std::memcpy(&half, &chain_.weights[places_.at(name).first + 2 * i], 2);
  return half;
}

Vector BlockReference::plain(const std::string& name) const {
  Vector values(at(chain_.task.find(name)->elements(0)));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = bf16_to_float(half_word(name, i));
  return values;
}

double BlockReference::int4(const std::string& name, std::int64_t expert, std::int64_t k, std::int64_t column) const {
  const Quantised& q = *chain_.task.find_quantised(name);
  const auto packed = static_cast<unsigned>(
      chain_.weights[places_.at(name + ".packed").first + at((expert * q.in / 2 + k / 2) * q.out + column)]);
  const std::size_t group = at((expert * q.in / 128 + k / 128) * q.out + column);
  const double nibble = k % 2 == 0 ? packed % 16 : packed / 16;
  return to_bf16((nibble - bf16_to_float(half_word(name + ".zero", group))) *
                 bf16_to_float(half_word(name + ".scale", group)));
}

Vector BlockReference::norm(const Vector& x, const std::string& weight, double eps) const {
  const Vector w = plain(weight);
  double mean = 0;
  for (const double value : x) mean += value * value / static_cast<double>(x.size());
  Vector y(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) y[i] = to_bf16(x[i] / std::sqrt(mean + eps) * w[i]);
  return y;
}

Vector BlockReference::rows(const std::string& weight, const Vector& x) const {
  const Vector w = plain(weight);
  Vector y(w.size() / x.size());
  for (std::size_t r = 0; r < y.size(); ++r)
    for (std::size_t k = 0; k < x.size(); ++k) y[r] += w[r * x.size() + k] * x[k];
  return to_bf16(y);
}

Vector BlockReference::columns(const std::string& weight, std::int64_t expert, const Vector& x) const {
  Vector y(at(chain_.task.find_quantised(weight)->out));
  for (std::size_t c = 0; c < y.size(); ++c)
    for (std::size_t k = 0; k < x.size(); ++k)
      y[c] += int4(weight, expert, static_cast<std::int64_t>(k), static_cast<std::int64_t>(c)) * x[k];
  return y;
}

Vector BlockReference::convolve(const std::string& layer, const std::string& which, const Vector& raw) {
  Vector& window = states_.at(layer + ".window_" + which);
  const Vector w = plain(layer + ".conv_" + which);
  Vector y(raw.size());
  for (std::size_t c = 0; c < raw.size(); ++c) {
    const double past[4] = {window[c], window[raw.size() + c], window[2 * raw.size() + c], raw[c]};
    double sum = 0;
    for (std::size_t t = 0; t < 4; ++t) sum += w[4 * c + t] * past[t];
    y[c] = to_bf16(sum * logistic(sum));
    for (std::size_t t = 0; t < 3; ++t) window[t * raw.size() + c] = past[t + 1];
  }
  return y;
}

Vector BlockReference::kda(const std::string& layer, const Vector& n) {
  const Vector q = convolve(layer, "q", to_bf16(columns(layer + ".q", 0, n)));
  const Vector k = convolve(layer, "k", to_bf16(columns(layer + ".k", 0, n)));
  const Vector v = convolve(layer, "v", to_bf16(columns(layer + ".v", 0, n)));
  const Vector g = to_bf16(columns(layer + ".g", 0, n)), b = rows(layer + ".beta", n);
  Vector& state = states_.at(layer + ".S");
  const std::size_t d = at(dim("kda_dim"));
  Vector o(q.size());
  for (std::size_t h = 0; h < b.size(); ++h)
    for (std::size_t j = 0; j < d; ++j) {
      Vector column(d);
      double predicted = 0;
      for (std::size_t i = 0; i < d; ++i) {
        column[i] = state[(h * d + i) * d + j] * std::exp(-std::log1p(std::exp(g[h * d + i])));
        predicted += column[i] * k[h * d + i];
      }
      for (std::size_t i = 0; i < d; ++i) {
        column[i] += logistic(b[h]) * k[h * d + i] * (v[h * d + j] - predicted);
        o[h * d + j] += column[i] * q[h * d + i] * std::pow(static_cast<double>(d), -0.5);
        state[(h * d + i) * d + j] = static_cast<float>(column[i]);
      }
    }
  return to_bf16(columns(layer + ".o", 0, to_bf16(o)));
}

Vector BlockReference::mla(const std::string& layer, const Vector& n) {
  const std::int64_t heads = dim("mla_heads"), nope = dim("nope"), rope = dim("rope"), width = dim("v_dim"),
                     latent = dim("kv_lora");
  Vector q = to_bf16(columns(layer + ".q", 0, n));
  const Vector kv = to_bf16(columns(layer + ".kv_a", 0, n));
  Vector rotated(kv.begin() + latent, kv.end());
  const auto rotate = [&](double* pair, std::int64_t i) {
    const double angle =
        static_cast<double>(position_) / std::pow(10000.0, 2.0 * static_cast<double>(i) / static_cast<double>(rope));
    const double a = pair[0], b = pair[1];
    pair[0] = to_bf16(a * std::cos(angle) - b * std::sin(angle));
    pair[1] = to_bf16(b * std::cos(angle) + a * std::sin(angle));
  };
  for (std::int64_t i = 0; i < rope / 2; ++i) {
    rotate(&rotated[at(2 * i)], i);
    for (std::int64_t h = 0; h < heads; ++h) rotate(&q[at(h * (nope + rope) + nope + 2 * i)], i);
  }
  Vector &c_kv = states_.at(layer + ".c_kv"), &k_rope = states_.at(layer + ".k_rope");
  std::copy(kv.begin(), kv.begin() + latent, c_kv.begin() + position_ * latent);
  std::copy(rotated.begin(), rotated.end(), k_rope.begin() + position_ * rope);
  Vector o(at(heads * width));
  for (std::int64_t h = 0; h < heads; ++h) {
    const std::int64_t first = h * (nope + width);
    Vector value(at((position_ + 1) * width)), weight(at(position_ + 1));
    double sum = 0;
    for (std::int64_t r = 0; r <= position_; ++r) {
      double score = 0;
      for (std::int64_t c = 0; c < nope + width; ++c) {
        double entry = 0;
        for (std::int64_t l = 0; l < latent; ++l)
          entry += c_kv[at(r * latent + l)] * int4(layer + ".kv_b", 0, l, first + c);
        if (c < nope)
          score += entry * q[at(h * (nope + rope) + c)];
        else
          value[at(r * width + c - nope)] = entry;
      }
      for (std::int64_t i = 0; i < rope; ++i) score += k_rope[at(r * rope + i)] * q[at(h * (nope + rope) + nope + i)];
      sum += weight[at(r)] = std::exp(score / std::sqrt(static_cast<double>(nope + rope)));
    }
    for (std::int64_t r = 0; r <= position_; ++r)
      for (std::int64_t i = 0; i < width; ++i) o[at(h * width + i)] += weight[at(r)] / sum * value[at(r * width + i)];
  }
  return to_bf16(columns(layer + ".o", 0, to_bf16(o)));
}

Vector BlockReference::swiglu(const std::string& layer, const std::string& prefix, std::int64_t expert,
                              const Vector& n) const {
  const Vector gate = columns(layer + "." + prefix + "gate", expert, n),
               up = columns(layer + "." + prefix + "up", expert, n);
  Vector inner(gate.size());
  for (std::size_t i = 0; i < gate.size(); ++i) inner[i] = gate[i] * logistic(gate[i]) * up[i];
  return columns(layer + "." + prefix + "down", expert, inner);
}

Vector BlockReference::moe(const std::string& layer, const Vector& n) const {
  const Vector logits = rows(layer + ".router", n);
  std::vector<bool> chosen(logits.size());
  double all = 0, sum = 1e-9;
  for (const double logit : logits) all += std::exp(logit);
  Vector result = swiglu(layer, "shared_", 0, n);
  std::vector<std::size_t> ids;
  for (std::int64_t slot = 0; slot < dim("topk"); ++slot) {
    std::size_t best = logits.size();
    for (std::size_t e = 0; e < logits.size(); ++e)
      if (!chosen[e] && (best == logits.size() || logits[e] > logits[best])) best = e;
    chosen[best] = true;
    ids.push_back(best);
    sum += std::exp(logits[best]) / all;
  }
  for (const std::size_t e : ids) {
    const double weight = static_cast<float>(std::exp(logits[e]) / all / sum * 2.446);
    const Vector expert = swiglu(layer, "", static_cast<std::int64_t>(e), n);
    for (std::size_t i = 0; i < result.size(); ++i) result[i] += weight * expert[i];
  }
  return to_bf16(result);
}

Vector BlockReference::kimi_step(const Vector& token) {
  Vector x = token;
  for (std::int64_t l = 0; l < dim("layers"); ++l) {
    const bool last = l == dim("kda_layers");
    const std::string layer = last ? "mla.0" : "kda." + std::to_string(l), mixture = "moe." + std::to_string(l);
    const Vector n = norm(x, layer + ".norm", 1e-6);
    const Vector h = to_bf16(plus(x, last ? mla(layer, n) : kda(layer, n)));
    x = to_bf16(plus(h, moe(mixture, norm(h, mixture + ".norm", 1e-6))));
  }
  ++position_;
  return x;
}

Vector BlockReference::llama_attention(const std::string& layer, const Vector& n) {
  const std::size_t d = at(dim("head_dim")), heads = at(dim("heads")), kv_heads = at(dim("kv_heads")),
                    row = kv_heads * d;
  Vector q = rows(layer + ".q", n), k = rows(layer + ".k", n);
  const Vector v = rows(layer + ".v", n);
  for (Vector* rotated : {&q, &k})
    for (std::size_t i = 0; i < rotated->size(); ++i) {
      if (i % d >= d / 2) continue;
      const double angle =
          static_cast<double>(position_) * std::pow(10000.0, -static_cast<double>(i % d) / static_cast<double>(d / 2));
      const double a = (*rotated)[i], b = (*rotated)[i + d / 2];
      (*rotated)[i] = to_bf16(a * std::cos(angle) - b * std::sin(angle));
      (*rotated)[i + d / 2] = to_bf16(b * std::cos(angle) + a * std::sin(angle));
    }
  Vector &keys = states_.at(layer + ".k_cache"), &values = states_.at(layer + ".v_cache");
  const std::size_t rows_cached = at(position_) + 1;
  std::copy(k.begin(), k.end(), keys.begin() + position_ * static_cast<std::int64_t>(row));
  std::copy(v.begin(), v.end(), values.begin() + position_ * static_cast<std::int64_t>(row));
  Vector o(q.size());
  for (std::size_t h = 0; h < heads; ++h) {
    const std::size_t shared = h / (heads / kv_heads) * d;
    Vector weight(rows_cached);
    double sum = 0;
    for (std::size_t r = 0; r < rows_cached; ++r) {
      double score = 0;
      for (std::size_t i = 0; i < d; ++i) score += q[h * d + i] * keys[r * row + shared + i];
      sum += weight[r] = std::exp(score / std::sqrt(static_cast<double>(d)));
    }
    for (std::size_t r = 0; r < rows_cached; ++r)
      for (std::size_t i = 0; i < d; ++i) o[h * d + i] += weight[r] / sum * values[r * row + shared + i];
  }
  return rows(layer + ".o", to_bf16(o));
}

Vector BlockReference::llama_step(const Vector& token) {
  Vector x = token;
  for (std::int64_t l = 0; l < dim("layers"); ++l) {
    const std::string layer = "layer." + std::to_string(l);
    const Vector h = to_bf16(plus(x, llama_attention(layer, norm(x, layer + ".attn_norm", 1e-5))));
    const Vector n = norm(h, layer + ".mlp_norm", 1e-5), gate = rows(layer + ".gate", n), up = rows(layer + ".up", n);
    Vector inner(gate.size());
    for (std::size_t i = 0; i < gate.size(); ++i) inner[i] = to_bf16(gate[i] * logistic(gate[i]) * up[i]);
    x = to_bf16(plus(h, rows(layer + ".down", inner)));
  }
  ++position_;
  return x;
}

}  // namespace onelaunch::tasks
