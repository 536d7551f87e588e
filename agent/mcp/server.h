#pragma once
// An MCP server over one session's tools. It keeps no state between requests but what is running: both eras of the protocol
// at once.

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "agent/mcp/jobs.h"
#include "agent/mcp/message.h"
#include "agent/mcp/tool_host.h"

namespace onelaunch::agent::mcp {

struct ServerOptions {
  std::string version;       // ours
  Seconds patience{45};      // a call that takes longer is answered with a job: clients give up after 60 s
  Seconds between{5};        // two notices of progress
};

class Server {
 public:
  // `send` gets one line without its line break; calls of it never overlap.
  Server(ToolHost& host, std::function<void(const std::string&)> send, ServerOptions options);
  ~Server() { end(); }
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // Returns at once; what takes time is answered later.
  void receive(const std::string& line);
  void refuse_too_long();
  // Cancels what is running and waits for it; sends nothing any more.
  void end();

 private:
  struct Call {
    Request request;
    std::atomic<bool> cancelled{false};
    std::shared_ptr<Job> job;  // what it waits for
    bool owner = true;         // whether the job ends with the call
    Seconds patience{0};
  };

  void send(const std::string& line);
  void take(const Request& request);
  void begin(const Request& request);
  void begin_waiting(const std::shared_ptr<Call>& call);
  void attend(const std::shared_ptr<Call>& call);
  void answer(const std::shared_ptr<Call>& call, const ToolAnswer& answer);
  void cancel(const std::string& id);

  std::unique_ptr<ToolHost> own_;  // the session's tools and ours
  std::function<void(const std::string&)> send_;
  const ServerOptions options_;
  const std::vector<Tool> tools_;
  std::mutex mutex_;  // of open_ and of what is sent
  std::map<std::string, std::shared_ptr<Call>> open_;
  bool ended_ = false;
  Jobs jobs_;
  Threads waiters_;
};

// The session's tools and those of the server itself, `briefing` and `wait_for_job`.
std::vector<Tool> served_tools();

}  // namespace onelaunch::agent::mcp
