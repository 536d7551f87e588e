#pragma once
// A session's running commentary on the terminal, or as plain lines in a pipe.

#include <mutex>
#include <string>

#include "agent/cli/terminal.h"
#include "agent/loop/observer.h"
#include "agent/loop/session.h"
#include "base/clock.h"

namespace onelaunch::cli {

class RunLog final : public agent::Observer {
 public:
  // Silent when `quiet`.
  explicit RunLog(bool quiet) : quiet_(quiet) {}

  // From now on the progress line of a terminal says how the session stands: elapsed and left of `wall`, best, attempts,
  // cost. `spent`: of earlier legs.
  void begin(Seconds wall, Seconds spent);

  void say(const std::string& topic, const std::string& line) override;
  void busy(const std::string& what) override;
  void decided(const agent::Report& report) override;
  void cost(const std::string& so_far) override;
  void done() { progress_.done(); }

 private:
  std::string standing();

  bool quiet_;
  const SystemClock clock_;
  std::mutex mutex_;  // of what standing() reads
  Seconds began_{0}, wall_{0};
  int judged_ = 0;
  std::string best_, cost_;
  ProgressLine progress_;  // last: its thread calls standing()
};

// What came out, for a person.
std::string summary_text(const agent::SessionResult& result, const std::string& run, Seconds wall);
// The same for a program.
std::string summary_json(const agent::SessionResult& result, const std::string& run, Seconds wall);

}  // namespace onelaunch::cli
