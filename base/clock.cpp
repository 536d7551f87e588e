#include "base/clock.h"

#include <cstdio>
#include <ctime>

namespace onelaunch {

Seconds SystemClock::now() const { return std::chrono::steady_clock::now().time_since_epoch(); }

std::string SystemClock::utc_now() const {
  const auto now = std::chrono::system_clock::now();
  const std::time_t whole = std::chrono::system_clock::to_time_t(now);
  const auto millis =
      std::chrono::duration_cast<std::chrono::milliseconds>(now.time_since_epoch()).count() % 1000;
  std::tm parts{};
  gmtime_r(&whole, &parts);
  char day[32], text[48];
  std::strftime(day, sizeof day, "%Y-%m-%dT%H:%M:%S", &parts);
  std::snprintf(text, sizeof text, "%s.%03dZ", day, static_cast<int>(millis));
  return text;
}

}  // namespace onelaunch
