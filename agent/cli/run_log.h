#pragma once
// A session's running commentary on the terminal, or as plain lines in a pipe.

#include <string>

#include "agent/cli/terminal.h"
#include "agent/loop/observer.h"
#include "agent/loop/session.h"

namespace onelaunch::cli {

class RunLog final : public agent::Observer {
 public:
  // Silent when `quiet`.
  explicit RunLog(bool quiet) : quiet_(quiet) {}

  void say(const std::string& topic, const std::string& line) override;
  void busy(const std::string& what) override;
  void decided(const agent::Report& report) override;
  void done() { progress_.done(); }

 private:
  bool quiet_;
  int judged_ = 0;
  ProgressLine progress_;
};

// What came out, for a person.
std::string summary_text(const agent::SessionResult& result, const std::string& run, Seconds wall);
// The same for a program.
std::string summary_json(const agent::SessionResult& result, const std::string& run, Seconds wall);

}  // namespace onelaunch::cli
