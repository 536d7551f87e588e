#pragma once
// A session in a process of its own: `onelaunch run ... --agent external`. It outlives a server that is killed just long
// enough to end cleanly.

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace onelaunch::agent::mcp {

class SessionChild {
 public:
  // Its standard output goes to our standard error. Call it from the main thread: when that ends, the session does.
  static Result<SessionChild> start(const std::string& program, const std::vector<std::string>& arguments);
  SessionChild(SessionChild&& other) noexcept;
  SessionChild& operator=(SessionChild&&) = delete;
  ~SessionChild() { end(); }

  bool running();  // any one thread
  // Asks for a clean end, once, and waits for it. The exit status; 128 and more: the signal that killed it.
  int end();

 private:
  explicit SessionChild(pid_t pid) : pid_(pid) {}
  pid_t pid_;
  std::optional<int> status_;
};

}  // namespace onelaunch::agent::mcp
