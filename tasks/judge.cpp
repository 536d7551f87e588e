#include "tasks/judge.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <limits>

#include "base/bfloat16.h"

namespace onelaunch::tasks {
namespace {

// The scale of the result may be off by this much; small tensors get room for honest random error.
constexpr double kScaleError = 0.005;
constexpr double kKeptError = 0.005, kAddedError = 0.02;
// Two roundings to bf16 of one value differ by about this much (root mean square, relative).
constexpr double kRoundingError = 0.002;
// Parts of a state smaller than this, relative to the whole, say too little about their own scale.
constexpr double kSmallPart = 0.03;
// One word in 4096 has twelve zeros by chance.
constexpr std::uint32_t kLowBits = 0xfff;
constexpr double kLowBitsShare = 0.01;
constexpr std::size_t kLowBitsWords = 1024;  // fewer words say too little

constexpr std::array kOrder = {"finite",       "old_row", "element", "rel_l2",  "update",
                               "update_scale", "kept",    "added",   "low_bits"};

constexpr double kInfinity = std::numeric_limits<double>::infinity();

double norm(const double* values, std::size_t count) {
  double sum = 0;
  for (std::size_t i = 0; i < count; ++i) sum += values[i] * values[i];
  return std::sqrt(sum);
}

double ratio_of(double value, double limit) {
  if (limit > 0) return value / limit;
  return value > 0 ? kInfinity : 0;
}

std::string text(const char* format, double a, double b = 0, double c = 0, double d = 0) {
  char line[256];
  std::snprintf(line, sizeof line, format, a, b, c, d);
  return line;
}

double short_share(std::span<const std::byte> bytes) {
  std::size_t numbers = 0, few = 0;
  for (std::size_t at = 0; at + 4 <= bytes.size(); at += 4) {
    std::uint32_t word = 0;
    std::memcpy(&word, &bytes[at], 4);
    if (word << 1 == 0) continue;
    ++numbers;
    few += (word & kLowBits) == 0;
  }
  return numbers == 0 ? 0 : static_cast<double>(few) / static_cast<double>(numbers);
}

}  // namespace

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

std::vector<Finding> Judge::findings() const {
  std::vector<Finding> ordered;
  for (const char* test : kOrder)
    std::ranges::copy_if(worst_, std::back_inserter(ordered),
                         [&](const Finding& finding) { return finding.test == test; });
  return ordered;
}

bool Judge::finite(const Slice& slice) {
  for (std::size_t i = slice.first; i < slice.first + slice.count; ++i) {
    if (std::isfinite(got_[i])) continue;
    note(false, "finite", i, got_[i], want_[i], 0, kInfinity,
         element_name(tensor_, first_ + i) + text(" is %g where %g is expected", got_[i], want_[i]));
    return false;
  }
  return true;
}

void Judge::elements(const Slice& slice) {
  const double rms = norm(&want_[slice.first], slice.count) / std::sqrt(static_cast<double>(slice.count));
  std::size_t worst = slice.first;
  double over = -1;
  for (std::size_t i = slice.first; i < slice.first + slice.count; ++i) {
    const double ratio = ratio_of(std::abs(got_[i] - want_[i]), allowed(i, rms));
    if (ratio > over) over = ratio, worst = i;
  }
  const double limit = allowed(worst, rms);
  note(over <= 1, "element", worst, got_[worst], want_[worst], limit, over,
       element_name(tensor_, first_ + worst) +
           text(" is %.6g where %.6g is expected; it may be off by %.3g (rms of the reference: %.3g)", got_[worst],
                want_[worst], limit, rms));
}

void Judge::relative(const Slice& slice) {
  double square = 0;
  for (std::size_t i = slice.first; i < slice.first + slice.count; ++i)
    square += (got_[i] - want_[i]) * (got_[i] - want_[i]);
  const double error = std::sqrt(square), size = norm(&want_[slice.first], slice.count);
  const double measured = error == 0 ? 0 : ratio_of(error, size);
  note(measured <= tolerance_.rel_l2, "rel_l2", slice.first, measured, 0, tolerance_.rel_l2,
       ratio_of(measured, tolerance_.rel_l2),
       name_of(slice) +
           text(" has the relative error %.3g (|got - want| / |want|); %.3g is allowed", measured, tolerance_.rel_l2));
}

void Judge::update(const Values& input) {
  double error = 0, size = 0;
  for (std::size_t i = 0; i < want_.size(); ++i) {
    error += (got_[i] - want_[i]) * (got_[i] - want_[i]);
    size += (want_[i] - input[i]) * (want_[i] - input[i]);
  }
  if (size == 0) return;  // nothing was added
  const double measured = std::sqrt(error / size);
  const double room = kRoundingError * ratio_of(norm(want_.data(), want_.size()), std::sqrt(size));
  const double limit = tolerance_.rel_l2 + (tensor_.dtype == DType::bf16 ? room : 0);
  note(measured <= limit, "update", 0, measured, 0, limit, ratio_of(measured, limit),
       tensor_.name + text(" minus the input has the relative error %.3g; %.3g is allowed", measured, limit));
}

void Judge::scale(const Values& input, const std::string& what) {
  double along = 0, size = 0;
  for (std::size_t i = 0; i < want_.size(); ++i) {
    along += (got_[i] - input[i]) * (want_[i] - input[i]);
    size += (want_[i] - input[i]) * (want_[i] - input[i]);
  }
  const double measured = size == 0 ? 1 : along / size;
  const double off = std::max(kScaleError, 4 * tolerance_.rel_l2 / std::sqrt(static_cast<double>(want_.size())));
  note(std::abs(measured - 1) <= off, "update_scale", 0, measured, 1, off, ratio_of(std::abs(measured - 1), off),
       what + text(" is %.5f of what is expected; 1 +- %.3g is allowed", measured, off));
}

void Judge::kept_and_added(const Slice& slice, const Values& before, std::size_t row) {
  double kept = 0, kept_along = 0, added = 0, added_along = 0;
  for (std::size_t first = slice.first; first < slice.first + slice.count; first += row) {
    double along = 0, size = 0;
    for (std::size_t i = first; i < first + row; ++i) along += want_[i] * before[i], size += before[i] * before[i];
    const double share = size == 0 ? 0 : along / size;
    for (std::size_t i = first; i < first + row; ++i) {
      const double old_part = share * before[i], new_part = want_[i] - old_part;
      kept += old_part * old_part, kept_along += (got_[i] - new_part) * old_part;
      added += new_part * new_part, added_along += (got_[i] - old_part) * new_part;
    }
  }
  const double whole = norm(&want_[slice.first], slice.count), elements = static_cast<double>(slice.count);
  const auto judge = [&](const char* test, double size, double along, double least, const char* what) {
    if (!(std::sqrt(size) > kSmallPart * whole)) return;
    const double measured = along / size;
    const double off = std::max(least, 4 * tolerance_.rel_l2 * whole / std::sqrt(size * elements));
    note(std::abs(measured - 1) <= off, test, slice.first, measured, 1, off, ratio_of(std::abs(measured - 1), off),
         name_of(slice) +
             text((std::string(what) + " %.5f of what is expected; 1 +- %.3g is allowed").c_str(), measured, off));
  };
  judge("kept", kept, kept_along, kKeptError, " keeps of its old content");
  judge("added", added, added_along, kAddedError, " gains of new content");
}

void Judge::low_bits(std::span<const std::byte> got, std::span<const std::byte> want) {
  if (got.size() / 4 < kLowBitsWords) return;
  const double measured = short_share(got), limit = kLowBitsShare + 2 * short_share(want);
  note(measured <= limit, "low_bits", 0, measured, 0, limit, ratio_of(measured, limit),
       text("%.3g of the numbers in ", measured) + tensor_.name +
           text(" have twelve zero bits at their end, as numbers of lower precision do; %.3g may", limit));
}

void Judge::old_row(std::size_t element) {
  note(false, "old_row", element, got_[element], want_[element], 0, kInfinity,
       element_name(tensor_, first_ + element) + " was changed: only the appended rows may be written");
}

double Judge::allowed(std::size_t i, double rms) const {
  return tolerance_.max_rms * rms + tolerance_.max_rel * std::abs(want_[i]);
}
std::string Judge::name_of(const Slice& slice) const {
  return slice.where.empty() ? tensor_.name : slice.where + " of " + tensor_.name;
}

void Judge::note(bool ok, const char* test, std::size_t index, double got, double want, double tolerance, double over,
                 std::string detail) {
  const auto known = std::ranges::find(worst_, test, &Finding::test);
  if (known != worst_.end() && known->over >= over) return;
  Finding finding{ok, test, tensor_.name, first_ + index, got, want, tolerance, over, std::move(detail)};
  if (known == worst_.end())
    worst_.push_back(std::move(finding));
  else
    *known = std::move(finding);
}

}  // namespace onelaunch::tasks
