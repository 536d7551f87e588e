#pragma once
// The hash chain and the numbering that run through a trace's lines.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace onelaunch::traces {

struct Defect {
  std::uint64_t line = 0;  // from 1
  std::string reason;
};

// Fed with whole lines in order. A broken link is judged one line later: the lines around it tell which was changed.
class Chain {
 public:
  // `seq` and `prev` as the line states them; nothing when the line could not be parsed.
  void add(std::string_view line, std::optional<std::uint64_t> seq, const std::optional<std::string>& prev);
  // In order of discovery. Complete after finish().
  const std::vector<Defect>& defects() const { return defects_; }
  void finish();
  const std::string& head() const { return head_; }  // SHA-256 of the last line; 64 zeros before the first
  std::uint64_t lines() const { return lines_; }

 private:
  void check_link(const std::optional<std::string>& prev);
  void check_seq(std::uint64_t seq);
  void settle(bool next_link_holds);

  std::string head_ = std::string(64, '0');
  std::uint64_t lines_ = 0, next_seq_ = 0;
  std::optional<std::uint64_t> suspect_;  // the line whose `prev` does not match, not judged yet
  std::vector<Defect> defects_;
};

}  // namespace onelaunch::traces
