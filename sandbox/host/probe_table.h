#pragma once
// The buffer that probe builds copy intermediate results into (tasks/device/probe.cuh), and what is found in it.

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "sandbox/host/profile.h"
#include "tasks/task.h"

namespace onelaunch::sandbox {

// Names that OL_PROBE knows in this task, sorted: the intermediate results.
std::vector<std::string> probe_names(const tasks::Task& task);
// Those that a wrong name may have meant, the likeliest first; at most `most`.
std::vector<std::string> nearest_names(const std::string& name, const std::vector<std::string>& names, std::size_t most);

class ProbeTable {
 public:
  explicit ProbeTable(const tasks::Task& task);

  // As it is before the launch: the index of all results, and nothing copied yet.
  std::string initial() const;

  // What a launch copied, compared with what the oracle says (tasks::OracleStep::probes). A probe of an unknown name is
  // refused, with the names that it may have meant.
  std::variant<std::vector<ProbeResult>, Outcome> compare(std::string_view bytes,
                                                          const std::map<std::string, std::vector<double>>& expected) const;

 private:
  struct Entry {
    std::string name;
    std::uint64_t hash = 0, first = 0, elements = 0;
    tasks::DType dtype = tasks::DType::f32;
  };
  std::optional<Refused> unknown_name(std::string_view bytes) const;
  ProbeResult judge(const Entry& entry, std::size_t number, std::string_view bytes, const std::vector<double>& want) const;
  std::string clash_of(std::size_t number, std::string_view bytes) const;

  const tasks::Task& task_;
  std::vector<Entry> entries_;           // sorted by name
  std::uint64_t values_ = 0;
};

}  // namespace onelaunch::sandbox
