#include "tasks/compare.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <utility>

#include "base/check.h"
#include "tasks/judge.h"

namespace onelaunch::tasks {
namespace {

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

void judge_slices(Judge& judge, const std::vector<Slice>& slices) {
  for (const Slice& slice : slices) {
    judge.elements(slice);
    judge.relative(slice);
  }
}

void judge_output(Judge& judge, const TensorView& view) {
  judge.scale(Values(view.want.size() / element_bytes(view.tensor->dtype)), view.tensor->name);
  if (view.before.empty()) return;
  const Values input = values_of(view.tensor->dtype, view.before);
  judge.update(input);
  judge.scale(input, view.tensor->name + " minus the input");
}

// A recurrent state: neither rewritten as a whole nor appended to, and in f32.
void judge_recurrent(Judge& judge, const TensorView& view, const std::vector<Slice>& slices) {
  judge.low_bits(view.got, view.want);
  if (view.before.size() != view.got.size() || view.tensor->shape.size() < 2) return;
  const Values before = values_of(view.tensor->dtype, view.before);
  for (const Slice& slice : slices)
    judge.kept_and_added(slice, before, static_cast<std::size_t>(view.tensor->shape.back()));
}

std::vector<Finding> judge_values(const TensorView& view, const Tolerance& tolerance) {
  const Values got = values_of(view.tensor->dtype, view.got), want = values_of(view.tensor->dtype, view.want);
  Judge judge(*view.tensor, tolerance, got, want);
  const std::vector<Slice> slices = slices_of(*view.tensor, got.size());
  for (const Slice& slice : slices)
    if (!judge.finite(slice)) return judge.findings();
  judge_slices(judge, slices);
  if (view.tensor->role == Role::output) judge_output(judge, view);
  if (view.tensor->role == Role::state && view.tensor->dtype == DType::f32) judge_recurrent(judge, view, slices);
  return judge.findings();
}

// Bytes of rows first to end that differ from what they were; the row's number, or end.
std::size_t first_changed_row(const TensorView& view, std::size_t row_bytes, std::size_t first, std::size_t end) {
  for (std::size_t row = first; row < end; ++row)
    if (std::memcmp(&view.got[row * row_bytes], &view.before[row * row_bytes], row_bytes) != 0) return row;
  return end;
}

std::vector<Finding> changed_row(const TensorView& view, std::size_t row, std::size_t row_bytes) {
  const std::size_t size = element_bytes(view.tensor->dtype);
  std::size_t at = row * row_bytes;
  while (view.got[at] == view.before[at]) ++at;
  const Values got = values_of(view.tensor->dtype, view.got), was = values_of(view.tensor->dtype, view.before);
  static const Tolerance kNone;
  Judge judge(*view.tensor, kNone, got, was);
  judge.old_row(at / size);
  return judge.findings();
}

std::vector<Finding> judge_cache(const TensorView& view, const Tolerance& tolerance, std::size_t first_new,
                                 std::size_t end) {
  const std::size_t row_bytes = view.tensor->bytes(1), rows = view.got.size() / row_bytes;
  OL_CHECK(first_new <= end && end <= rows && view.before.size() == view.got.size(), "rows of the cache");
  for (const auto& [from, to] : {std::pair{std::size_t{0}, first_new}, std::pair{end, rows}})
    if (const std::size_t row = first_changed_row(view, row_bytes, from, to); row != to)
      return changed_row(view, row, row_bytes);
  const auto fresh = [&](std::span<const std::byte> bytes) {
    return values_of(view.tensor->dtype, bytes.subspan(first_new * row_bytes, (end - first_new) * row_bytes));
  };
  const Values got = fresh(view.got), want = fresh(view.want);
  const std::size_t size = row_bytes / element_bytes(view.tensor->dtype);
  Judge judge(*view.tensor, tolerance, got, want, first_new * size);
  std::vector<Slice> slices;
  for (std::size_t row = first_new; row < end; ++row)
    slices.push_back({(row - first_new) * size, size, "row " + std::to_string(row)});
  if (std::ranges::all_of(slices, [&](const Slice& slice) { return judge.finite(slice); })) judge_slices(judge, slices);
  return judge.findings();
}

std::vector<Finding> judge_tensor(const Task& task, const TensorView& view, std::int64_t first_new_row,
                                  std::int64_t end_row) {
  OL_CHECK(view.got.size() == view.want.size() && !view.got.empty(), "got and want are of one size");
  const Tolerance& tolerance = tolerance_of(task, *view.tensor);
  if (!view.tensor->is_cache()) return judge_values(view, tolerance);
  return judge_cache(view, tolerance, static_cast<std::size_t>(first_new_row), static_cast<std::size_t>(end_row));
}

}  // namespace

std::string element_name(const Tensor& tensor, std::size_t index) {
  std::string where;
  for (std::size_t i = tensor.shape.size(); i-- > 0;) {
    // Of a cache the first extent is not known here, nor needed.
    const auto extent = i == 0 ? index + 1 : static_cast<std::size_t>(tensor.shape[i]);
    const std::size_t behind = tensor.shape.size() - 1 - i;
    const char* noun = tensor.shape.size() == 1 ? "" : behind == 0 ? "column " : behind == 1 ? "row " : "head ";
    where = noun + std::to_string(index % extent) + (where.empty() ? "" : ", " + where);
    index /= extent;
  }
  return tensor.name + "[" + where + "]";
}

Finding decisive(const std::vector<Finding>& of_one_tensor) {
  OL_CHECK(!of_one_tensor.empty(), "a tensor went through a test");
  const auto failed = std::ranges::find(of_one_tensor, false, &Finding::ok);
  return failed != of_one_tensor.end() ? *failed : *std::ranges::max_element(of_one_tensor, {}, &Finding::over);
}

std::vector<Finding> measure(const Task& task, const std::vector<TensorView>& tensors, std::int64_t first_new_row,
                             std::int64_t end_row) {
  std::vector<Finding> all;
  for (const TensorView& view : tensors) {
    std::vector<Finding> findings = judge_tensor(task, view, first_new_row, end_row);
    std::ranges::move(findings, std::back_inserter(all));
  }
  return all;
}

std::vector<Finding> compare(const Task& task, const std::vector<TensorView>& tensors, std::int64_t first_new_row,
                             std::int64_t end_row) {
  std::vector<Finding> findings;
  for (const TensorView& view : tensors) {
    const std::vector<Finding> all = judge_tensor(task, view, first_new_row, end_row);
    // A cache that gains no row now has nothing to be compared.
    if (all.empty())
      findings.emplace_back().tensor = view.tensor->name;
    else
      findings.push_back(decisive(all));
  }
  return findings;
}

}  // namespace onelaunch::tasks
