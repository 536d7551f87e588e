#include "sandbox/host/probe_table.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <cstring>

namespace onelaunch::sandbox {
namespace {

// As tasks/device/probe.cuh lays it out.
constexpr std::uint32_t kEmpty = 0xffffd00d;
constexpr std::size_t kClashes = 64, kUnknown = 16, kNameBytes = 56;
constexpr std::size_t kHeadBytes = 32, kClashBytes = 24, kUnknownBytes = 64, kEntryBytes = 32;
constexpr std::size_t kClashesAt = kHeadBytes, kUnknownAt = kClashesAt + kClashes * kClashBytes;
constexpr std::size_t kEntriesAt = kUnknownAt + kUnknown * kUnknownBytes;
constexpr std::size_t kNamesShown = 3;

template <class T>
T word_at(std::string_view bytes, std::size_t offset) {
  T word{};
  if (offset + sizeof word <= bytes.size()) std::memcpy(&word, bytes.data() + offset, sizeof word);
  return word;
}
void put(std::string& bytes, std::size_t offset, std::uint64_t word) { std::memcpy(bytes.data() + offset, &word, sizeof word); }

std::uint64_t hash_of(std::string_view name) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash;
}

std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i);
    for (std::size_t j = 1; j <= b.size(); ++j)
      diagonal = std::exchange(row[j], std::min({row[j] + 1, row[j - 1] + 1, diagonal + (a[i - 1] != b[j - 1])}));
  }
  return row[b.size()];
}

std::string quoted(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

}  // namespace

std::vector<std::string> probe_names(const tasks::Task& task) {
  std::vector<std::string> names;
  for (const auto& [name, value] : task.values) names.push_back(name);
  return names;
}

std::vector<std::string> nearest_names(const std::string& name, const std::vector<std::string>& names, std::size_t most) {
  std::vector<std::pair<std::size_t, std::string>> ranked;
  for (const std::string& known : names) ranked.push_back({distance(name, known), known});
  std::ranges::stable_sort(ranked, {}, [](const auto& entry) { return entry.first; });
  std::vector<std::string> nearest;
  for (std::size_t i = 0; i < std::min(most, ranked.size()); ++i) nearest.push_back(ranked[i].second);
  return nearest;
}

ProbeTable::ProbeTable(const tasks::Task& task) : task_(task) {
  for (const auto& [name, value] : task.values) {
    std::uint64_t elements = 1;
    for (const std::int64_t extent : value.shape) elements *= static_cast<std::uint64_t>(extent);
    entries_.push_back({name, hash_of(name), values_, elements, value.dtype});
    values_ += elements;
  }
}

std::string ProbeTable::initial() const {
  const std::size_t values_at = kEntriesAt + entries_.size() * kEntryBytes;
  std::string bytes(values_at + values_ * sizeof(std::uint32_t), '\0');
  put(bytes, 0, entries_.size());
  put(bytes, 8, values_at);
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    put(bytes, kEntriesAt + i * kEntryBytes, entries_[i].hash);
    put(bytes, kEntriesAt + i * kEntryBytes + 8, entries_[i].first);
    put(bytes, kEntriesAt + i * kEntryBytes + 16, entries_[i].elements);
  }
  for (std::size_t i = 0; i < values_; ++i) std::memcpy(bytes.data() + values_at + i * sizeof kEmpty, &kEmpty, sizeof kEmpty);
  return bytes;
}

std::optional<Refused> ProbeTable::unknown_name(std::string_view bytes) const {
  for (std::size_t i = 0; i < kUnknown; ++i) {
    const std::size_t at = kUnknownAt + i * kUnknownBytes;
    if (word_at<std::uint64_t>(bytes, at) == 0) continue;
    std::string name(bytes.substr(at + 8, kNameBytes));
    name.resize(name.find('\0') == std::string::npos ? name.size() : name.find('\0'));
    return Refused{"probe", "OL_PROBE(\"" + name + "\", ...): " + task_.name + " has no intermediate result of that name; the nearest are " +
                   quoted(nearest_names(name, probe_names(task_), kNamesShown)) + " (onelaunch tasks show " + task_.name +
                   " --probes lists all)"};
  }
  return std::nullopt;
}

std::string ProbeTable::clash_of(std::size_t number, std::string_view bytes) const {
  const std::size_t count = std::min<std::size_t>(word_at<std::uint64_t>(bytes, 16), kClashes);
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t at = kClashesAt + i * kClashBytes;
    if (word_at<std::uint64_t>(bytes, at) != number) continue;
    char text[160];
    std::snprintf(text, sizeof text, "element %llu was copied twice with different values, the later one %.6g by block %u",
                  static_cast<unsigned long long>(word_at<std::uint64_t>(bytes, at + 8)),
                  static_cast<double>(std::bit_cast<float>(word_at<std::uint32_t>(bytes, at + 20))), word_at<std::uint32_t>(bytes, at + 16));
    return text;
  }
  return "";
}

ProbeResult ProbeTable::judge(const Entry& entry, std::size_t number, std::string_view bytes, const std::vector<double>& want) const {
  ProbeResult result;
  result.name = entry.name, result.dtype = tasks::name_of(entry.dtype), result.elements = entry.elements;
  double square = 0;
  for (const double value : want) square += value * value;
  const double rms = std::sqrt(square / static_cast<double>(std::max<std::size_t>(want.size(), 1)));
  const tasks::Tolerance& tolerance = task_.output_tolerance;
  const std::size_t values_at = kEntriesAt + entries_.size() * kEntryBytes;
  double error = 0, size = 0, furthest = -1;
  bool finite = true;
  for (std::uint64_t i = 0; i < entry.elements && i < want.size(); ++i) {
    const auto word = word_at<std::uint32_t>(bytes, values_at + (entry.first + i) * sizeof(std::uint32_t));
    if (word == kEmpty) continue;
    ++result.copied;
    const double got = std::bit_cast<float>(word), off = got - want[i];
    const double allowed = entry.dtype == tasks::DType::i32 ? 0 : tolerance.max_rms * rms + tolerance.max_rel * std::abs(want[i]);
    const double excess = std::isfinite(got) ? std::abs(off) - allowed : std::numeric_limits<double>::infinity();
    if (std::isfinite(got)) error += off * off, size += want[i] * want[i];
    else finite = false;
    if (result.copied > 1 && excess <= furthest) continue;
    furthest = excess;
    result.worst = i, result.got = got, result.want = want[i], result.tolerance = allowed;
  }
  result.rel_l2 = error == 0 ? 0 : std::sqrt(error / std::max(size, 1e-300));
  const std::string clash = clash_of(number, bytes);
  const std::uint64_t asked = word_at<std::uint64_t>(bytes, kEntriesAt + number * kEntryBytes + 24);
  char text[256];
  if (result.copied == 0)
    std::snprintf(text, sizeof text, "nothing was copied");
  else if (!finite || furthest > 0)
    std::snprintf(text, sizeof text, "element %llu is %.6g where %.6g is expected; it may be off by %.3g", static_cast<unsigned long long>(result.worst),
                  result.got, result.want, result.tolerance);
  else if (result.rel_l2 > tolerance.rel_l2)
    std::snprintf(text, sizeof text, "the relative error is %.3g; %.3g is allowed", result.rel_l2, tolerance.rel_l2);
  else if (asked > entry.elements)
    std::snprintf(text, sizeof text, "the probe takes %llu elements; the result has %llu", static_cast<unsigned long long>(asked),
                  static_cast<unsigned long long>(entry.elements));
  else if (clash.empty())
    return result.ok = true, result;
  else
    return result.detail = clash, result;
  result.detail = text;
  return result;
}

std::variant<std::vector<ProbeResult>, Outcome> ProbeTable::compare(std::string_view bytes,
                                                                    const std::map<std::string, std::vector<double>>& expected) const {
  if (auto refused = unknown_name(bytes)) return Outcome(std::move(*refused));
  std::vector<ProbeResult> results;
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    if (word_at<std::uint64_t>(bytes, kEntriesAt + i * kEntryBytes + 24) == 0) continue;  // not probed
    const auto want = expected.find(entries_[i].name);
    if (want == expected.end()) continue;
    results.push_back(judge(entries_[i], i, bytes, want->second));
  }
  return results;
}

}  // namespace onelaunch::sandbox
