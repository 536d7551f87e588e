#include "agent/mcp/jobs.h"

#include <algorithm>
#include <utility>

namespace onelaunch::agent::mcp {

void Threads::run(std::function<void()> work) {
  const std::lock_guard lock(mutex_);
  running_.remove_if([](Running& running) {
    if (!*running.over) return false;
    running.thread.join();
    return true;
  });
  auto over = std::make_shared<bool>(false);
  running_.push_back({over, std::thread([this, over, work = std::move(work)] {
                        work();
                        const std::lock_guard done(mutex_);
                        *over = true;
                      })});
}

void Threads::join() {
  std::list<Running> all;
  {
    const std::lock_guard lock(mutex_);
    all.swap(running_);
  }
  for (Running& running : all) running.thread.join();
}

void Job::cancel() {
  {
    const std::lock_guard lock(mutex_);
    cancelled_ = true;
  }
  changed_.notify_all();
}

bool Job::cancelled() const {
  const std::lock_guard lock(mutex_);
  return cancelled_;
}

void Job::done(ToolAnswer answer) {
  {
    const std::lock_guard lock(mutex_);
    answer_ = std::move(answer);
  }
  changed_.notify_all();
}

std::optional<ToolAnswer> Job::wait(Seconds wait, const std::function<bool()>& enough) const {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, wait, [&] { return answer_ || cancelled_ || enough(); });
  return answer_;
}

void Job::wake() const {
  { const std::lock_guard lock(mutex_); }  // whoever is about to wait has looked before, or will see it
  changed_.notify_all();
}

std::shared_ptr<Job> Jobs::start(const std::string& tool, const std::string& arguments) {
  std::shared_ptr<Job> job;
  {
    const std::lock_guard lock(mutex_);
    job = std::make_shared<Job>("job" + std::to_string(jobs_.size() + 1), tool);
    jobs_.push_back(job);
  }
  threads_.run([this, job, arguments] {
    const Result<ToolAnswer> answer = host_.call(job->tool(), arguments, [&] { return job->cancelled(); });
    job->done(answer ? *answer : ToolAnswer{.text = answer.error().message, .error = true});
  });
  return job;
}

std::shared_ptr<Job> Jobs::find(const std::string& id) const {
  const std::lock_guard lock(mutex_);
  const auto found = std::ranges::find_if(jobs_, [&](const auto& job) { return job->id() == id; });
  return found == jobs_.end() ? nullptr : *found;
}

void Jobs::end() {
  std::vector<std::shared_ptr<Job>> all;
  {
    const std::lock_guard lock(mutex_);
    all = jobs_;
  }
  for (const auto& job : all) job->cancel();
  threads_.join();
}

}  // namespace onelaunch::agent::mcp
