#include "agent/loop/budget.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <optional>

namespace onelaunch::agent {
namespace {

constexpr double kReserveSecondsMin = 10, kReserveShareOfSmallCap = 0.25, kReserveShareMin = 0.05;
constexpr double kReserveShareMax = 0.5, kReserveGrades = 3;
constexpr double kWallSecondsMax = 14 * 86400.0;

// A plain decimal number at the front of the text, which it is cut from.
std::optional<double> take_number(std::string_view& text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, std::chars_format::fixed);
  if (error != std::errc() || !std::isfinite(value)) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return value;
}

std::optional<double> take_unit(std::string_view& text) {
  if (text.empty()) return 1.0;
  const char unit = text.front();
  text.remove_prefix(1);
  switch (unit) {
    case 'd':
      return 86400.0;
    case 'h':
      return 3600.0;
    case 'm':
      return 60.0;
    case 's':
      return 1.0;
    default:
      return std::nullopt;
  }
}

}  // namespace

Budget::Budget(const Clock& clock, Seconds wall, Seconds spent)
    : clock_(clock), start_(clock.now() - spent), wall_(wall) {}

Seconds Budget::spent() const { return clock_.now() - start_; }

Seconds Budget::left_for_work() const { return std::max(Seconds(0), work_end().left(clock_)); }

Seconds Budget::reserve() const {
  const double wall = wall_.count();
  const double least = std::min(kReserveSecondsMin, kReserveShareOfSmallCap * wall);
  const double grades = kReserveGrades * longest_grade_.count();
  const double anew = set_up_.count() + (kReserveGrades - 1) * longest_grade_.count();
  const double wanted = std::max({least, grades, anew, kReserveShareMin * wall});
  return Seconds(std::min(wanted, kReserveShareMax * wall));
}

Deadline Budget::work_end() const { return {start_ + wall_ - reserve()}; }
Deadline Budget::end() const { return {start_ + wall_}; }

void Budget::saw_full_grade(Seconds took) { longest_grade_ = std::max(longest_grade_, took); }
void Budget::saw_set_up(Seconds took) { set_up_ = std::max(set_up_, took); }

Result<Seconds> parse_wall(const std::string& text) {
  const auto bad = [&text](const std::string& why) {
    return invalid("`" + text + "` is no time: " + why + "; write 3h, 45m, 90s or 1h30m");
  };
  std::string_view rest = text;
  double total = 0;
  if (rest.empty()) return bad("it is empty");
  while (!rest.empty()) {
    const auto number = take_number(rest);
    if (!number) return bad("a number was expected at `" + std::string(rest) + "`");
    const auto unit = take_unit(rest);
    if (!unit) return bad("the units are d, h, m and s");
    if (*number < 0) return bad("it is negative");
    total += *number * *unit;
  }
  if (!(total > 0)) return bad("it must be more than zero");
  if (total > kWallSecondsMax) return bad("the longest session is 14 days");
  return Seconds(total);
}

Result<double> parse_gain(const std::string& text) {
  std::string_view rest = text;
  const auto number = take_number(rest);
  const bool percent = rest == "%";
  if (!number || (!rest.empty() && !percent)) return invalid("`" + text + "` is no gain: write 0.3% or 0.003");
  const double gain = percent ? *number / 100 : *number;
  if (!(gain >= 0 && gain < 1)) return invalid("a gain of " + text + " is outside 0% to 100%");
  return gain;
}

std::string print_duration(Seconds time) {
  const double seconds = std::max(0.0, time.count());
  char text[48];
  if (seconds < 9.95) {
    std::snprintf(text, sizeof text, "%.1fs", seconds);
    return text;
  }
  const long whole = std::lround(seconds);
  if (whole < 60)
    std::snprintf(text, sizeof text, "%lds", whole);
  else if (whole < 3600)
    std::snprintf(text, sizeof text, "%ldm%02lds", whole / 60, whole % 60);
  else
    std::snprintf(text, sizeof text, "%ldh%02ldm", whole / 3600, whole % 3600 / 60);
  return text;
}

}  // namespace onelaunch::agent
