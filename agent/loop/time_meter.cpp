#include "agent/loop/time_meter.h"

#include <algorithm>
#include <utility>

namespace onelaunch::agent {
namespace {

std::size_t index(Spent spent) { return static_cast<std::size_t>(spent); }

}  // namespace

const char* name_of(Spent spent) {
  constexpr const char* names[kSpentKinds] = {"model",     "compile",        "gate", "measure",
                                              "lock_wait", "provider_retry", "tool", "idle"};
  return names[index(spent)];
}

Spent TimeMeter::switch_to(Spent next) {
  const Seconds now = clock_.now();
  seconds_[index(current_)] += (now - since_).count();
  since_ = now;
  return std::exchange(current_, next);
}

void TimeMeter::move(Spent from, Spent to, double seconds) {
  switch_to(current_);
  const double moved = std::clamp(seconds, 0.0, seconds_[index(from)]);
  seconds_[index(from)] -= moved;
  seconds_[index(to)] += moved;
}

void TimeMeter::add(const std::string& kind, double seconds) {
  for (std::size_t i = 0; i < kSpentKinds; ++i)
    if (kind == name_of(static_cast<Spent>(i))) seconds_[i] += seconds;
}

std::map<std::string, double> TimeMeter::totals() {
  switch_to(current_);
  std::map<std::string, double> totals;
  for (std::size_t i = 0; i < kSpentKinds; ++i) totals[name_of(static_cast<Spent>(i))] = seconds_[i];
  return totals;
}

}  // namespace onelaunch::agent
