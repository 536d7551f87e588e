#include "traces/chain.h"

#include "base/sha256.h"

namespace onelaunch::traces {
namespace {
std::string line_name(std::uint64_t number) { return "line " + std::to_string(number); }
}  // namespace

void Chain::add(std::string_view line, std::optional<std::uint64_t> seq, const std::optional<std::string>& prev) {
  ++lines_;
  const bool gap = seq && *seq != next_seq_;
  if (seq) check_seq(*seq);
  next_seq_ = seq.value_or(next_seq_) + 1;
  // Where lines are missing the link is broken as well: one cause, one defect.
  check_link(gap ? std::nullopt : prev);
  head_ = sha256_hex(line);
}

void Chain::check_seq(std::uint64_t seq) {
  if (seq == next_seq_) return;
  defects_.push_back({lines_, "seq is " + std::to_string(seq) + ", expected " + std::to_string(next_seq_) +
                                  (seq > next_seq_ ? ": a line before it is missing" : ": lines were put in or moved")});
}

void Chain::check_link(const std::optional<std::string>& prev) {
  const bool holds = !prev || *prev == head_;
  if (suspect_) return settle(holds);  // a second broken link in a row has the first one's cause
  if (!holds) suspect_ = lines_;
}

// The link into line n is broken. If the link out of n holds, n is as it was written, so line n - 1 was changed.
// Otherwise n itself was changed.
void Chain::settle(bool next_link_holds) {
  const std::uint64_t n = *suspect_;
  suspect_.reset();
  if (next_link_holds && n > 1)
    defects_.push_back({n - 1, "was changed: " + line_name(n) + " was written after other content"});
  else
    defects_.push_back({n, n > 1 ? "was changed: its prev is not the hash of " + line_name(n - 1)
                                 : "its prev is not 64 zeros: lines before it are missing"});
}

void Chain::finish() {
  if (suspect_) settle(true);
}

}  // namespace onelaunch::traces
