#pragma once
// Attributes every second of a session to what it was spent on.

#include <array>
#include <map>
#include <string>

#include "base/clock.h"

namespace onelaunch::agent {

enum class Spent { model, compile, gate, measure, lock_wait, provider_retry, tool, idle };
constexpr std::size_t kSpentKinds = 8;
const char* name_of(Spent spent);

// Runs from its construction; at every moment exactly one kind is charged (idle at first). One thread.
class TimeMeter {
 public:
  explicit TimeMeter(const Clock& clock) : clock_(clock), since_(clock.now()) {}

  // Charges what follows to `next`; returns what was charged before.
  Spent switch_to(Spent next);
  // Moves time that turned out to be of another kind, at most what `from` has.
  void move(Spent from, Spent to, double seconds);
  // Adds time of an earlier leg.
  void add(const std::string& kind, double seconds);
  // Every kind by name, in seconds, up to now.
  std::map<std::string, double> totals();

 private:
  const Clock& clock_;
  Seconds since_;
  Spent current_ = Spent::idle;
  std::array<double, kSpentKinds> seconds_{};
};

// Charges a scope to one kind, then goes back to what it was.
class Spending {
 public:
  Spending(TimeMeter& meter, Spent spent) : meter_(meter), before_(meter.switch_to(spent)) {}
  ~Spending() { meter_.switch_to(before_); }
  Spending(const Spending&) = delete;
  Spending& operator=(const Spending&) = delete;

 private:
  TimeMeter& meter_;
  Spent before_;
};

}  // namespace onelaunch::agent
