#pragma once
// Writing to a person's terminal: numbers, and a progress line that shows up when something takes over two seconds, or,
// once it has a lead, for as long as anything goes on.

#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include "base/clock.h"

namespace onelaunch::cli {

std::string format_number(const char* format, double value);  // printf format of one double
std::string first_line(const std::string& text);
// "A=1 B=2"
template <class Map>
std::string format_values(const Map& values) {
  std::string text;
  for (const auto& [name, value] : values) text += (text.empty() ? "" : " ") + name + "=" + value;
  return text;
}

// On standard error, and only when that is a terminal; otherwise it is silent. Any thread.
class ProgressLine {
 public:
  ProgressLine();
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  void busy(const std::string& what);
  // What stands before it, asked for whenever the line is drawn; from the line's own thread.
  void lead(std::function<std::string()> text);
  void done();                          // nothing goes on any more
  void print(const std::string& line);  // a line on standard output, with the progress line out of its way

 private:
  void tick();
  void erase();

  const bool terminal_;
  const SystemClock clock_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::string what_;
  std::function<std::string()> lead_;
  Seconds since_{0};
  bool shown_ = false, ending_ = false;
  std::thread ticker_;  // last: it uses the others
};

}  // namespace onelaunch::cli
