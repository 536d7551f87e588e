#include "sandbox/host/phase_summary.h"

#include <algorithm>
#include <map>
#include <optional>

namespace onelaunch::sandbox {
namespace {

constexpr const char* kBefore = "(before the first mark)";
constexpr double kStragglerShare = 1.1, kStragglerUs = 0.1;
constexpr double kAtOnceUs = 0.1;         // an end so soon after its mark is that of braces round the mark alone
constexpr std::size_t kStragglersMax = 4;

// A stretch of one block's time.
struct Span {
  std::string phase;
  double us = 0;
  bool wait = false;
  int segment = 0;                        // the number of waits before it
};

struct BlockTimeline {
  std::vector<Span> spans;
  std::map<std::string, int> passes;
  std::vector<double> arrived, released;  // us, of each wait
  double first = 0, last = 0;
  bool open = false;                      // nothing says when its last phase ended
};

// One launch, times in us from the first stamp of any block.
struct Timeline {
  std::vector<std::optional<BlockTimeline>> blocks;  // nothing: no stamps
  double us = 0;
};

bool is_wait(const std::string& phase) { return phase.starts_with("wait"); }

// Follows one block's stamps.
class Follower {
 public:
  explicit Follower(double from) { timeline_.first = from_ = from; }

  void take(const Stamp& stamp, double at, bool last) {
    timeline_.last = at;
    timeline_.open = last && (stamp.kind == Stamp::Kind::phase || (stamp.kind == Stamp::Kind::leave && at < from_ + kAtOnceUs));
    switch (stamp.kind) {
      case Stamp::Kind::phase: return enter(stamp.name, at);
      case Stamp::Kind::arrive: return arrive(at);
      case Stamp::Kind::released: return release(at);
      // The end of the code that a mark is in ends its phase only when no other follows.
      case Stamp::Kind::leave: return last ? close(at) : void();
    }
  }
  BlockTimeline take_all() { return std::move(timeline_); }

 private:
  void enter(const std::string& phase, double at) {
    if (waiting_) release(at);
    else close(at);
    phase_ = phase;
    ++timeline_.passes[phase];
    if (is_wait(phase)) arrive(at);
  }
  void arrive(double at) {
    close(at);
    if (!waiting_) timeline_.arrived.push_back(at);
    waiting_ = true;
  }
  void release(double at) {
    close(at);
    if (waiting_) timeline_.released.push_back(at), ++segment_;
    waiting_ = false;
  }
  void close(double at) {
    if (at > from_ || waiting_) timeline_.spans.push_back({phase_, at - from_, waiting_, segment_});
    from_ = at;
  }

  BlockTimeline timeline_;
  std::string phase_ = kBefore;
  double from_ = 0;
  bool waiting_ = false;
  int segment_ = 0;
};

std::uint64_t origin_of(const LaunchStamps& launch) {
  std::optional<std::uint64_t> origin;
  for (const auto& stamps : launch)
    if (!stamps.empty()) origin = std::min(origin.value_or(stamps.front().ns), stamps.front().ns);
  return origin.value_or(0);
}

Timeline timeline_of(const LaunchStamps& launch) {
  Timeline timeline;
  timeline.blocks.resize(launch.size());
  const std::uint64_t origin = origin_of(launch);
  for (std::size_t b = 0; b < launch.size(); ++b) {
    const std::vector<Stamp>& stamps = launch[b];
    if (stamps.empty()) continue;
    const auto us = [&](std::uint64_t ns) { return ns < origin ? 0 : static_cast<double>(ns - origin) / 1e3; };
    Follower follower(us(stamps.front().ns));
    for (std::size_t i = 0; i < stamps.size(); ++i) follower.take(stamps[i], us(stamps[i].ns), i + 1 == stamps.size());
    timeline.blocks[b] = follower.take_all();
    timeline.us = std::max(timeline.us, timeline.blocks[b]->last);
  }
  return timeline;
}

// How many waits all blocks have in common: none when they differ, for then it is not known which belong together.
int common_waits(const Timeline& timeline) {
  std::optional<std::size_t> waits;
  for (const auto& block : timeline.blocks) {
    if (!block) continue;
    if (waits && *waits != block->released.size()) return 0;
    waits = block->released.size();
  }
  return static_cast<int>(waits.value_or(0));
}

struct CriticalPath {
  double us = 0, barrier_us = 0;
  std::map<std::string, double> by_phase;
};

// Between two waits the block that works longest is what all wait for.
CriticalPath critical_path(const Timeline& timeline, int waits) {
  CriticalPath path;
  for (int segment = 0; segment <= waits; ++segment) {
    std::map<std::string, double> slowest;
    double most = -1;
    for (const auto& block : timeline.blocks) {
      if (!block) continue;
      std::map<std::string, double> parts;
      // A block that starts late is late from the launch's start on.
      double total = segment == 0 ? block->first : 0;
      if (segment == 0 && !block->spans.empty()) parts[block->spans.front().phase] += block->first;
      for (const Span& span : block->spans)
        if ((waits == 0 || span.segment == segment) && (waits == 0 || !span.wait)) parts[span.phase] += span.us, total += span.us;
      if (total > most) most = total, slowest = std::move(parts);
    }
    path.us += std::max(most, 0.0);
    for (const auto& [phase, us] : slowest) path.by_phase[phase] += us;
  }
  for (int wait = 0; wait < waits; ++wait) {
    double arrived = 0;
    std::vector<double> released;
    for (const auto& block : timeline.blocks)
      if (block) arrived = std::max(arrived, block->arrived[static_cast<std::size_t>(wait)]), released.push_back(block->released[static_cast<std::size_t>(wait)]);
    path.barrier_us += std::max(0.0, spread_of(released).median - arrived);
  }
  return path;
}

// Sums over launches.
struct PhaseSums {
  std::map<std::size_t, double> us, wait_us;  // by block
  int passes = 0;
  double critical_us = 0;
};

class Summary {
 public:
  void add(const Timeline& timeline) {
    const int waits = common_waits(timeline);
    summary_.barriers = launches_ == 0 ? waits : std::min(summary_.barriers, waits);
    const CriticalPath path = critical_path(timeline, waits);
    summary_.token_us += timeline.us, summary_.critical_us += path.us, summary_.barrier_us += path.barrier_us;
    for (std::size_t b = 0; b < timeline.blocks.size(); ++b)
      if (timeline.blocks[b]) add_block(b, *timeline.blocks[b]);
    for (const auto& [phase, us] : path.by_phase) sums_of(phase).critical_us += us;
    ++launches_;
  }

  PhaseSummary finish() {
    const double n = std::max(launches_, 1);
    summary_.launches = launches_;
    summary_.token_us /= n, summary_.critical_us /= n, summary_.barrier_us /= n;
    double all_us = 0;
    std::map<std::size_t, double> waits;
    for (auto& [name, sums] : sums_) {
      for (auto& [block, us] : sums.us) us /= n, all_us += us;
      for (auto& [block, us] : sums.wait_us) us /= n, waits[block] += us;
      sums.critical_us /= n;
    }
    for (const std::string& name : order_) summary_.phases.push_back(phase_of(name, sums_.at(name), all_us));
    name_an_unmarked_kernel();
    std::vector<double> of_blocks;
    for (const auto& [block, us] : waits) of_blocks.push_back(us);
    summary_.wait_us = spread_of(of_blocks);
    if (open_) summary_.notes.push_back("the end of the last phase is not known: its mark stands alone in a block of code that ends at once");
    return std::move(summary_);
  }

 private:
  PhaseSums& sums_of(const std::string& phase) {
    if (!sums_.contains(phase)) order_.push_back(phase);
    return sums_[phase];
  }

  void add_block(std::size_t b, const BlockTimeline& block) {
    open_ = open_ || block.open;
    for (const Span& span : block.spans) {
      PhaseSums& sums = sums_of(span.phase);
      sums.us[b] += span.us;
      sums.wait_us[b] += span.wait ? span.us : 0;
    }
    for (const auto& [phase, passes] : block.passes) {
      PhaseSums& sums = sums_of(phase);
      sums.passes = std::max(sums.passes, passes);
      sums.us[b] += 0, sums.wait_us[b] += 0;
    }
  }

  static ProfiledPhase phase_of(const std::string& name, const PhaseSums& sums, double all_us) {
    ProfiledPhase phase;
    phase.name = name;
    phase.passes = sums.passes;
    phase.blocks = static_cast<int>(sums.us.size());
    phase.critical_us = sums.critical_us;
    std::vector<double> us, wait, busy;
    std::vector<std::pair<double, int>> slowest;
    double sum = 0;
    for (const auto& [block, time] : sums.us) {
      us.push_back(time), sum += time;
      wait.push_back(sums.wait_us.at(block));
      busy.push_back(time - wait.back());
      slowest.push_back({busy.back(), static_cast<int>(block)});
    }
    phase.us = spread_of(us), phase.wait_us = spread_of(wait);
    phase.share = all_us > 0 ? sum / all_us : 0;
    const double median = spread_of(busy).median;
    std::ranges::stable_sort(slowest, [](const auto& a, const auto& b) { return a.first > b.first; });
    for (const auto& [time, block] : slowest)
      if (phase.stragglers.size() < kStragglersMax && time > kStragglerShare * median && time > median + kStragglerUs)
        phase.stragglers.push_back(block);
    return phase;
  }

  void name_an_unmarked_kernel() {
    if (summary_.phases.size() == 1 && summary_.phases.front().name == kBefore) summary_.phases.front().name = "kernel";
  }

  PhaseSummary summary_;
  std::map<std::string, PhaseSums> sums_;
  std::vector<std::string> order_;        // of the phases, by first appearance
  int launches_ = 0;
  bool open_ = false;
};

}  // namespace

Spread spread_of(std::vector<double> values) {
  if (values.empty()) return {};
  std::ranges::sort(values);
  const std::size_t half = values.size() / 2;
  const double median = values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
  return {values.front(), median, values.back()};
}

PhaseSummary summarise(const std::vector<LaunchStamps>& launches) {
  std::vector<Timeline> timelines;
  for (const LaunchStamps& launch : launches) timelines.push_back(timeline_of(launch));
  std::ranges::stable_sort(timelines, {}, &Timeline::us);
  const std::size_t cut = timelines.size() / 4;
  Summary summary;
  for (std::size_t i = cut; i + cut < timelines.size(); ++i) summary.add(timelines[i]);
  return summary.finish();
}

double first_stamp_us(const LaunchStamps& launch) { return static_cast<double>(origin_of(launch)) / 1e3; }

std::string phase_at(const LaunchStamps& launch, double us) {
  const std::uint64_t origin = origin_of(launch);
  std::map<std::string, int> blocks;
  for (const auto& stamps : launch) {
    std::string phase;
    for (const Stamp& stamp : stamps)
      if (stamp.kind == Stamp::Kind::phase && static_cast<double>(stamp.ns) / 1e3 <= us + static_cast<double>(origin) / 1e3) phase = stamp.name;
    if (!phase.empty()) ++blocks[phase];
  }
  const auto most = std::ranges::max_element(blocks, {}, [](const auto& entry) { return entry.second; });
  return most == blocks.end() ? "" : most->first;
}

}  // namespace onelaunch::sandbox
