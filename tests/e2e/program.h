#pragma once
// Runs the real programs, as a user would.

#include <sys/types.h>

#include <functional>
#include <string>
#include <vector>

namespace onelaunch::e2e {

struct Ended {
  int code = -1;    // exit status; 128 + signal when it was killed
  std::string out;  // standard output and error together
};

// A started program whose output is read line by line. Killed when destroyed before its end.
class Program {
 public:
  // `command`: the path and its arguments. `folder`: working directory.
  Program(const std::vector<std::string>& command, const std::string& folder);
  ~Program();
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  // Reads until a line holds the text; false when the output ended first.
  bool read_until(const std::string& text);
  void signal(int number);
  Ended wait();
  const std::string& output() const { return output_; }

 private:
  bool read_some();
  pid_t pid_ = -1;
  int pipe_ = -1;
  std::string output_;
};

std::string onelaunch_path();
// onelaunch with these arguments, to its end.
Ended onelaunch(const std::vector<std::string>& arguments, const std::string& folder);

}  // namespace onelaunch::e2e
