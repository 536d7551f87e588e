#include "tasks/compare.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>

#include "base/bfloat16.h"
#include "base/check.h"

namespace onelaunch::tasks {
namespace {

// The scale of the result may be off by this much; small tensors get room for honest random error.
constexpr double kScaleError = 0.005;
// Two roundings to bf16 of one value differ by about this much (root mean square, relative).
constexpr double kRoundingError = 0.002;

using Values = std::vector<double>;

Values values_of(DType dtype, std::span<const std::byte> bytes) {
  const std::size_t size = element_bytes(dtype);
  Values values(bytes.size() / size);
  for (std::size_t i = 0; i < values.size(); ++i) {
    std::uint32_t word = 0;
    std::memcpy(&word, &bytes[i * size], size);
    switch (dtype) {
      case DType::f32:
        values[i] = std::bit_cast<float>(word);
        break;
      case DType::bf16:
        values[i] = bf16_to_float(static_cast<std::uint16_t>(word));
        break;
      case DType::u8:
        values[i] = static_cast<double>(word);
        break;
      case DType::i32:
        values[i] = static_cast<double>(static_cast<std::int32_t>(word));
        break;
    }
  }
  return values;
}

struct Slice {
  std::size_t first, count;
  std::string where;  // "row 2080", "head 3"; empty for the whole tensor
};

double norm(const double* values, std::size_t count) {
  double sum = 0;
  for (std::size_t i = 0; i < count; ++i) sum += values[i] * values[i];
  return std::sqrt(sum);
}

std::string text(const char* format, double a, double b = 0, double c = 0, double d = 0) {
  char line[256];
  std::snprintf(line, sizeof line, format, a, b, c, d);
  return line;
}

// Compares one tensor and keeps its first failure, or the pass that came closest to failing.
class Judge {
 public:
  Judge(const Tensor& tensor, const Tolerance& tolerance, const Values& got, const Values& want)
      : tensor_(tensor), tolerance_(tolerance), got_(got), want_(want) {}

  const Finding& finding() const { return worst_; }

  bool finite(const Slice& slice) {
    for (std::size_t i = slice.first; i < slice.first + slice.count; ++i)
      if (!std::isfinite(got_[i]))
        return note(false, "finite", i, got_[i], want_[i], 0, std::numeric_limits<double>::infinity(),
                    name_of_element(slice, i) + text(" is %g where %g is expected", got_[i], want_[i]));
    return true;
  }

  // |got - want| <= max_rms * rms(want) + max_rel * |want| for every element.
  bool elements(const Slice& slice) {
    const double rms = norm(&want_[slice.first], slice.count) / std::sqrt(static_cast<double>(slice.count));
    std::size_t worst = slice.first;
    double ratio = -1;
    for (std::size_t i = slice.first; i < slice.first + slice.count; ++i) {
      const double r = ratio_of(std::abs(got_[i] - want_[i]), allowed(i, rms));
      if (r > ratio) ratio = r, worst = i;
    }
    const double limit = allowed(worst, rms);
    return note(ratio <= 1, "element", worst, got_[worst], want_[worst], limit, ratio,
                name_of_element(slice, worst) +
                    text(" is %.6g where %.6g is expected; it may be off by %.3g (rms of the reference: %.3g)",
                         got_[worst], want_[worst], limit, rms));
  }

  // The error's norm over the reference's.
  bool relative(const Slice& slice) {
    double square = 0;
    for (std::size_t i = slice.first; i < slice.first + slice.count; ++i)
      square += (got_[i] - want_[i]) * (got_[i] - want_[i]);
    const double error = std::sqrt(square), size = norm(&want_[slice.first], slice.count);
    const double measured = error == 0 ? 0 : ratio_of(error, size);
    return note(measured <= tolerance_.rel_l2, "rel_l2", slice.first, measured, 0, tolerance_.rel_l2,
                ratio_of(measured, tolerance_.rel_l2),
                name_of(slice) + text(" has the relative error %.3g (|got - want| / |want|); %.3g is allowed", measured,
                                      tolerance_.rel_l2));
  }

  // The same for what the computation added to its input: the residual must not hide dead layers.
  bool update(const Values& input) {
    double error = 0, size = 0;
    for (std::size_t i = 0; i < want_.size(); ++i) {
      error += (got_[i] - want_[i]) * (got_[i] - want_[i]);
      size += (want_[i] - input[i]) * (want_[i] - input[i]);
    }
    if (size == 0) return true;  // nothing was added
    const double measured = std::sqrt(error / size);
    const double room = kRoundingError * ratio_of(norm(want_.data(), want_.size()), std::sqrt(size));
    const double limit = tolerance_.rel_l2 + (tensor_.dtype == DType::bf16 ? room : 0);
    return note(measured <= limit, "update", 0, measured, 0, limit, ratio_of(measured, limit),
                tensor_.name + text(" minus the input has the relative error %.3g; %.3g is allowed", measured, limit));
  }

  // A factor common to all elements, which a relative error is slow to see. `input` as in update(), or zeros.
  bool scale(const Values& input, const std::string& what) {
    double along = 0, size = 0;
    for (std::size_t i = 0; i < want_.size(); ++i) {
      along += (got_[i] - input[i]) * (want_[i] - input[i]);
      size += (want_[i] - input[i]) * (want_[i] - input[i]);
    }
    const double measured = size == 0 ? 1 : along / size;
    const double off = std::max(kScaleError, 4 * tolerance_.rel_l2 / std::sqrt(static_cast<double>(want_.size())));
    return note(std::abs(measured - 1) <= off, "update_scale", 0, measured, 1, off,
                ratio_of(std::abs(measured - 1), off),
                what + text(" is %.5f of what is expected; 1 +- %.3g is allowed", measured, off));
  }

  bool old_row(std::size_t row, std::size_t element) {
    return note(false, "old_row", element, got_[element], want_[element], 0, std::numeric_limits<double>::infinity(),
                "row " + std::to_string(row) + " of " + tensor_.name + " was changed, first at element " +
                    std::to_string(element) + ": only the appended rows may be written");
  }

 private:
  double allowed(std::size_t i, double rms) const {
    return tolerance_.max_rms * rms + tolerance_.max_rel * std::abs(want_[i]);
  }
  static double ratio_of(double value, double limit) {
    if (limit > 0) return value / limit;
    return value > 0 ? std::numeric_limits<double>::infinity() : 0;
  }
  std::string name_of(const Slice& slice) const {
    return slice.where.empty() ? tensor_.name : slice.where + " of " + tensor_.name;
  }
  std::string name_of_element(const Slice& slice, std::size_t i) const {
    return "element " + std::to_string(i - slice.first) + " of " + name_of(slice);
  }

  bool note(bool ok, const char* test, std::size_t index, double got, double want, double tolerance, double ratio,
            std::string detail) {
    if (!worst_.ok || (ok && ratio < closest_)) return ok;
    closest_ = ratio;
    worst_ = {ok, test, tensor_.name, index, got, want, tolerance, std::move(detail)};
    return ok;
  }

  const Tensor& tensor_;
  const Tolerance& tolerance_;
  const Values& got_;
  const Values& want_;
  Finding worst_;
  double closest_ = -1;
};

const Tolerance& tolerance_of(const Task& task, const Tensor& tensor) {
  const auto exception = task.tensor_tolerance.find(tensor.name);
  if (exception != task.tensor_tolerance.end()) return exception->second;
  return tensor.role == Role::output ? task.output_tolerance : task.state_tolerance;
}

// A state is judged head by head or row by row, so that one wrong slice cannot hide in a large tensor.
std::vector<Slice> slices_of(const Tensor& tensor, std::size_t count) {
  if (tensor.role != Role::state || tensor.shape.size() < 2) return {{0, count, ""}};
  const std::size_t parts = static_cast<std::size_t>(tensor.shape.front()), size = count / parts;
  const char* noun = tensor.shape.size() == 3 ? "head " : "row ";
  std::vector<Slice> slices;
  for (std::size_t i = 0; i < parts; ++i) slices.push_back({i * size, size, noun + std::to_string(i)});
  return slices;
}

Finding judge_values(const TensorView& view, const Tolerance& tolerance) {
  const Values got = values_of(view.tensor->dtype, view.got), want = values_of(view.tensor->dtype, view.want);
  Judge judge(*view.tensor, tolerance, got, want);
  for (const Slice& slice : slices_of(*view.tensor, got.size()))
    if (!judge.finite(slice) || !judge.elements(slice) || !judge.relative(slice)) return judge.finding();
  if (view.tensor->role != Role::output) return judge.finding();
  judge.scale(Values(got.size()), view.tensor->name);
  if (!view.before.empty()) {
    const Values input = values_of(view.tensor->dtype, view.before);
    judge.update(input);
    judge.scale(input, view.tensor->name + " minus the input");
  }
  return judge.finding();
}

// Bytes of rows first to end that differ from what they were; the row's number, or end.
std::size_t first_changed_row(const TensorView& view, std::size_t row_bytes, std::size_t first, std::size_t end) {
  for (std::size_t row = first; row < end; ++row)
    if (std::memcmp(&view.got[row * row_bytes], &view.before[row * row_bytes], row_bytes) != 0) return row;
  return end;
}

Finding changed_row(const TensorView& view, std::size_t row, std::size_t row_bytes) {
  const std::size_t size = element_bytes(view.tensor->dtype);
  std::size_t at = row * row_bytes;
  while (view.got[at] == view.before[at]) ++at;
  const Values got = values_of(view.tensor->dtype, view.got), was = values_of(view.tensor->dtype, view.before);
  static const Tolerance kNone;
  Judge judge(*view.tensor, kNone, got, was);
  judge.old_row(row, at / size);
  return judge.finding();
}

Finding judge_cache(const TensorView& view, const Tolerance& tolerance, std::size_t first_new, std::size_t end) {
  const std::size_t row_bytes = view.tensor->bytes(1), rows = view.got.size() / row_bytes;
  OL_CHECK(first_new <= end && end <= rows && view.before.size() == view.got.size(), "rows of the cache");
  for (const auto& [from, to] : {std::pair{std::size_t{0}, first_new}, std::pair{end, rows}})
    if (const std::size_t row = first_changed_row(view, row_bytes, from, to); row != to)
      return changed_row(view, row, row_bytes);
  const auto fresh = [&](std::span<const std::byte> bytes) {
    return values_of(view.tensor->dtype, bytes.subspan(first_new * row_bytes, (end - first_new) * row_bytes));
  };
  const Values got = fresh(view.got), want = fresh(view.want);
  Judge judge(*view.tensor, tolerance, got, want);
  const std::size_t size = row_bytes / element_bytes(view.tensor->dtype);
  for (std::size_t row = first_new; row < end; ++row) {
    const Slice slice{(row - first_new) * size, size, "row " + std::to_string(row)};
    if (!judge.finite(slice) || !judge.elements(slice) || !judge.relative(slice)) break;
  }
  Finding finding = judge.finding();
  finding.index += first_new * size;
  return finding;
}

}  // namespace

std::vector<Finding> compare(const Task& task, const std::vector<TensorView>& tensors, std::int64_t first_new_row,
                             std::int64_t end_row) {
  std::vector<Finding> findings;
  for (const TensorView& view : tensors) {
    OL_CHECK(view.got.size() == view.want.size() && !view.got.empty(), "got and want are of one size");
    const Tolerance& tolerance = tolerance_of(task, *view.tensor);
    Finding finding = view.tensor->is_cache() ? judge_cache(view, tolerance, static_cast<std::size_t>(first_new_row),
                                                            static_cast<std::size_t>(end_row))
                                              : judge_values(view, tolerance);
    if (finding.tensor.empty()) finding.tensor = view.tensor->name;
    findings.push_back(std::move(finding));
  }
  return findings;
}

}  // namespace onelaunch::tasks
