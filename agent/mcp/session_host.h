#pragma once
// The tools of a session in another process, over its socket.

#include <filesystem>
#include <functional>
#include <string>

#include "agent/mcp/tool_host.h"

namespace onelaunch::agent::mcp {

class SessionHost final : public ToolHost {
 public:
  // `running`: whether the session's process still is; any thread. While it is, a session that does not listen yet is
  // waited for.
  SessionHost(std::filesystem::path run, std::function<bool()> running) : run_(std::move(run)), running_(std::move(running)) {}

  Result<Offer> offer(const Cancelled& cancelled) override;
  Result<ToolAnswer> call(const std::string& tool, const std::string& arguments, const Cancelled& cancelled) override;

 private:
  Result<void> wait_until_open(const Cancelled& cancelled) const;
  Error ended(const Error& error) const;

  std::filesystem::path run_;
  std::function<bool()> running_;
};

}  // namespace onelaunch::agent::mcp
