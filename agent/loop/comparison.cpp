#include "agent/loop/comparison.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "agent/loop/grading.h"
#include "agent/loop/statistics.h"

namespace onelaunch::agent {
namespace {

constexpr double kClearlySlower = 1.05;      // times in different workers tell this much apart
constexpr double kClearlySlowerLook = 1.10;  // and so much a quick look at one context

bool passed(const sandbox::Grade& grade) { return std::holds_alternative<sandbox::Passed>(grade.outcome); }

void add_clocks(sandbox::DeviceTimes& all, const sandbox::DeviceTimes& one) {
  all.sm_mhz_low = std::min(all.sm_mhz_low, one.sm_mhz_low);
  all.sm_mhz_high = std::max(all.sm_mhz_high, one.sm_mhz_high);
  all.power_w_high = std::max(all.power_w_high, one.power_w_high);
  all.temperature_c_high = std::max(all.temperature_c_high, one.temperature_c_high);
  all.throttle_reasons |= one.throttle_reasons;
}

// What only one worker was asked for.
void put_secondary(sandbox::DeviceTimes& of, const std::vector<sandbox::Measurement>& complete, std::int64_t context) {
  for (const sandbox::Measurement& time : complete) {
    if (time.context != context || !time.device) continue;
    of.token_loop_us = time.device->token_loop_us;
    of.cold_us = time.device->cold_us;
    of.launches = time.device->launches;
  }
}

// Whether it was timed no further because it is clearly slower.
bool gave_up(const sandbox::Grade& grade, const sandbox::GradeRequest& request) {
  if (!request.stop_above || !grade.pairs.empty() || grade.times.empty()) return false;
  return grade.times.front().us_median > request.stop_above->first_us ||
         sandbox::score_us(grade.times) > request.stop_above->score_us;
}

// The i-th context's time in every worker. Not empty.
sandbox::Measurement combine(std::vector<sandbox::Measurement> times) {
  std::ranges::sort(times, {}, &sandbox::Measurement::us_median);
  sandbox::Measurement all = times[times.size() / 2];
  all.us_low = times.front().us_median;
  all.us_high = times.back().us_median;
  all.n = 0;
  all.raw_us.clear();
  for (const sandbox::Measurement& time : times) {
    all.n += time.n;
    all.raw_us.insert(all.raw_us.end(), time.raw_us.begin(), time.raw_us.end());
    if (all.device && time.device) add_clocks(*all.device, *time.device);
  }
  return all;
}

// One comparison in progress.
class Comparison {
 public:
  Comparison(Workplace& place, std::string id, sandbox::Compiled compiled, const Rivalry& rivalry, Deadline end)
      : place_(place), id_(std::move(id)), rivalry_(rivalry), end_(end) {
    judgement_.judged = true;
    judgement_.compiled = std::move(compiled);
  }

  Judgement judge() {
    place_.observer.busy("grading " + id_ + " beside " + rivalry_.incumbent.id);
    if (!screen()) return std::move(judgement_);
    if (!time_to_confirm()) return std::move(judgement_);
    confirm();
    return std::move(judgement_);
  }

 private:
  // Whether the candidate is promising; else the judgement is complete.
  bool screen() {
    const auto beside = take_turn(0);
    if (!beside) return false;
    judgement_.screened = screen_measured(beside->gain, *rivalry_.rule);
    if (judgement_.screened->promising) return true;
    let_go(beside->gain, judgement_.screened->reason);
    return false;
  }

  // Not kept, with what this worker's pairs say, if anything.
  void let_go(const WorkerGain& gain, const std::string& why) {
    KeepDecision decision{.us = sandbox::score_us(judgement_.grade.times), .n = 0, .reason = why};
    if (gain.unusable.empty() && gain.n > 0) {
      const Screened said = screen_measured(gain, *rivalry_.rule);
      decision.ratio = said.ratio, decision.low = said.low, decision.high = said.high;
      decision.n = gain.n, decision.discarded = gain.discarded;
    }
    judgement_.decided = std::move(decision);
  }

  bool time_to_confirm() {
    const double wanted = kConfirmingWorkers * place_.budget.longest_grade().count();
    const double left = end_.left(place_.clock).count();
    if (left >= wanted) return true;
    judgement_ = {.judged = false, .cut_short = true, .screened = judgement_.screened};
    judgement_.why = judgement_.screened->reason + "; but no time is left to confirm it";
    return false;
  }

  void confirm() {
    std::vector<Beside> workers;
    do {
      const int number = static_cast<int>(workers.size()) + 1;
      place_.observer.busy("confirming " + id_ + ", worker " + std::to_string(number) + " of " +
                           std::to_string(kConfirmingWorkers));
      auto beside = take_turn(number);
      if (!beside) return;
      workers.push_back(std::move(*beside));
    } while (std::ssize(workers) < kConfirmingWorkers && !beyond_hope(gains_of(workers), *rivalry_.rule));
    judgement_.decided = decide_measured(gains_of(workers), *rivalry_.rule, rivalry_.test);
    judgement_.grade.times = combined_times(workers, judgement_.grade.times);
    judgement_.decided->us = sandbox::score_us(judgement_.grade.times);
    place_.recorder.timed(id_, judgement_.grade.times);
  }

  // One worker's answer; nothing when it completes the judgement: not ours to say, wrong, or too fast to be true.
  std::optional<Beside> take_turn(int number) {
    Result<Beside> beside = grade_beside(place_, id_, judgement_.compiled, rivalry_.incumbent, number, end_);
    if (!beside) {
      std::optional<Screened> screened = std::move(judgement_.screened);
      judgement_ = unjudged(place_, end_, beside.error().message);
      judgement_.screened = std::move(screened);
      return std::nullopt;
    }
    const bool first = number == 0;
    if (first || !passed(beside->grade)) place_.recorder.graded(id_, beside->grade);
    if (first || !passed(beside->grade)) judgement_.grade = beside->grade;
    if (!passed(beside->grade)) return std::nullopt;
    const bool too_fast = !beside->grade.quarantine.empty();
    if (!too_fast && beside->gain.unusable.empty()) return std::move(*beside);
    if (too_fast)
      let_go(beside->gain, "too fast to be true: " + beside->grade.quarantine);
    else if (beside->grade.pairs.empty())
      let_go_alone();
    else
      let_go(beside->gain, "it cannot be compared: " + beside->gain.unusable);
    judgement_.decided->quarantine = too_fast;
    return std::nullopt;
  }

  // Timed by itself it was so slow that no pairs were made; of several contexts perhaps only the first was looked at.
  void let_go_alone() {
    const std::vector<sandbox::Measurement>& times = judgement_.grade.times;
    const std::vector<sandbox::Measurement>& rival = rivalry_.incumbent.times;
    const bool all = times.size() == rival.size();
    const double ratio = all ? rivalry_.incumbent.us / sandbox::score_us(times)
                             : rival.front().us_median / times.front().us_median;
    let_go({}, describe_gain(ratio - 1) + " than the incumbent " +
                   (all ? "when timed alone" : "in a quick look at context " + std::to_string(times.front().context)) +
                   "; too slow to be timed beside it");
    if (!all) judgement_.decided->us = 0;
    judgement_.decided->ratio = judgement_.decided->low = judgement_.decided->high = ratio;
    judgement_.decided->n = 1;
  }

  Workplace& place_;
  const std::string id_;
  const Rivalry& rivalry_;
  const Deadline end_;
  Judgement judgement_;
};

}  // namespace

Result<Beside> grade_beside(Workplace& place, const std::string& id, const sandbox::Compiled& compiled,
                            const Standing& against, int number, Deadline end) {
  for (int tries = 1;; ++tries) {
    sandbox::GradeRequest request{.check = sandbox::Check::full,
                                  .all_times = number == 0,
                                  .against = &against.compiled,
                                  .pair_s = place.limits.pair_s};
    if (number == 0)
      request.stop_above = {.first_us = against.times.front().us_median * kClearlySlowerLook,
                            .score_us = against.us * kClearlySlower};
    Result<sandbox::Grade> grade = run_grade(place, id, compiled, request, end);
    if (!grade) return because(grade.error());
    Beside beside{.grade = std::move(*grade), .gain = {}};
    if (!passed(beside.grade)) return beside;
    beside.gain = gain_of(beside.grade);
    if (gave_up(beside.grade, request)) return beside;
    if (beside.grade.times.empty() || beside.grade.pairs.size() != beside.grade.times.size())
      return fail(Error::Kind::internal, "the grade came without paired times of every context");
    place.recorder.paired(id, against.id, number, beside.grade.pairs, beside.gain);
    if (beside.gain.unusable.empty() || tries >= place.limits.tries) return beside;
    place.recorder.write(
        traces::Note{.author = "onelaunch", .text = "a worker of " + id + " is replaced: " + beside.gain.unusable});
  }
}

Result<std::vector<Beside>> grade_in_fresh_workers(Workplace& place, const Standing& kernel, const Standing& against,
                                                   Deadline end) {
  std::vector<Beside> workers;
  while (std::ssize(workers) < kConfirmingWorkers) {
    const int number = static_cast<int>(workers.size()) + 1;
    place.observer.busy("timing " + kernel.id + " beside " + against.id + ", worker " + std::to_string(number) +
                        " of " + std::to_string(kConfirmingWorkers));
    Result<Beside> beside = grade_beside(place, kernel.id, kernel.compiled, against, number, end);
    if (!beside) return because(beside.error(), "timing " + kernel.id);
    const auto unfit = [&](const std::string& why) {
      return fail(Error::Kind::internal, kernel.id + " cannot stand for comparison: " + why);
    };
    if (!passed(beside->grade)) return unfit(sandbox::explain(beside->grade.outcome));
    if (!beside->grade.quarantine.empty()) return unfit("too fast to be true: " + beside->grade.quarantine);
    if (!beside->gain.unusable.empty()) return unfit(beside->gain.unusable);
    workers.push_back(std::move(*beside));
  }
  place.recorder.timed(kernel.id, combined_times(workers, kernel.times));
  return workers;
}

std::vector<sandbox::Measurement> combined_times(const std::vector<Beside>& workers,
                                                 const std::vector<sandbox::Measurement>& complete) {
  std::vector<sandbox::Measurement> all;
  if (workers.empty()) return all;
  for (const sandbox::Measurement& of : workers.front().grade.times) {
    std::vector<sandbox::Measurement> times;
    for (const Beside& worker : workers)
      for (const sandbox::Measurement& time : worker.grade.times)
        if (time.context == of.context) times.push_back(time);
    all.push_back(combine(std::move(times)));
    if (all.back().device) put_secondary(*all.back().device, complete, of.context);
  }
  return all;
}

std::vector<WorkerGain> gains_of(const std::vector<Beside>& workers) {
  std::vector<WorkerGain> gains;
  for (const Beside& worker : workers) gains.push_back(worker.gain);
  return gains;
}

Judgement compare_measured(Workplace& place, const std::string& id, sandbox::Compiled compiled, const Rivalry& rivalry,
                           Deadline end) {
  return Comparison(place, id, std::move(compiled), rivalry, end).judge();
}

}  // namespace onelaunch::agent
