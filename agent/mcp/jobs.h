#pragma once
// Tool calls that may outlast the request that began them.

#include <condition_variable>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "agent/mcp/tool_host.h"
#include "base/clock.h"

namespace onelaunch::agent::mcp {

// Runs things, each in its own thread; joins those that are over when there is a new one, and all when destroyed.
class Threads {
 public:
  ~Threads() { join(); }
  void run(std::function<void()> work);
  void join();

 private:
  struct Running {
    std::shared_ptr<bool> over;
    std::thread thread;
  };
  std::mutex mutex_;
  std::list<Running> running_;
};

class Job {
 public:
  Job(std::string id, std::string tool) : id_(std::move(id)), tool_(std::move(tool)) {}
  const std::string& id() const { return id_; }
  const std::string& tool() const { return tool_; }
  void cancel();
  bool cancelled() const;
  void done(ToolAnswer answer);
  // Until it is done, the wait is over or `enough` (looked at after each wake()) says so.
  std::optional<ToolAnswer> wait(Seconds wait, const std::function<bool()>& enough) const;
  void wake() const;

 private:
  const std::string id_, tool_;
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  bool cancelled_ = false;
  std::optional<ToolAnswer> answer_;
};

class Jobs {
 public:
  explicit Jobs(ToolHost& host) : host_(host) {}
  ~Jobs() { end(); }
  std::shared_ptr<Job> start(const std::string& tool, const std::string& arguments);
  std::shared_ptr<Job> find(const std::string& id) const;  // null: there is none
  void end();  // cancels all of them and waits

 private:
  ToolHost& host_;
  mutable std::mutex mutex_;
  std::vector<std::shared_ptr<Job>> jobs_;
  Threads threads_;
};

}  // namespace onelaunch::agent::mcp
