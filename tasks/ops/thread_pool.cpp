#include "tasks/ops/thread_pool.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

namespace onelaunch::tasks {

struct ThreadPool::State {
  std::mutex mutex;
  std::condition_variable work_arrived, work_done;
  const std::function<void(std::size_t)>* body = nullptr;
  std::size_t next = 0, count = 0, running = 0;
  bool closing = false;
  std::vector<std::thread> threads;

  // Takes iterations until there are none left. `lock` is held on entry and on return.
  void take(std::unique_lock<std::mutex>& lock) {
    while (next < count) {
      const std::size_t index = next++;
      ++running;
      const auto* mine = body;
      lock.unlock();
      (*mine)(index);
      lock.lock();
      if (--running == 0 && next == count) work_done.notify_all();
    }
  }

  void serve() {
    std::unique_lock lock(mutex);
    while (!closing) {
      take(lock);
      work_arrived.wait(lock, [&] { return closing || next < count; });
    }
  }
};

ThreadPool::ThreadPool(int threads) : state_(std::make_unique<State>()) {
  for (int i = 1; i < std::min(threads, 64); ++i)
    state_->threads.emplace_back([state = state_.get()] { state->serve(); });
}

ThreadPool::~ThreadPool() {
  {
    const std::lock_guard lock(state_->mutex);
    state_->closing = true;
  }
  state_->work_arrived.notify_all();
  for (std::thread& thread : state_->threads) thread.join();
}

void ThreadPool::for_each(std::size_t count, const std::function<void(std::size_t)>& body) {
  if (state_->threads.empty() || count <= 1) {
    for (std::size_t i = 0; i < count; ++i) body(i);
    return;
  }
  std::unique_lock lock(state_->mutex);
  state_->body = &body;
  state_->next = 0;
  state_->count = count;
  state_->work_arrived.notify_all();
  state_->take(lock);
  state_->work_done.wait(lock, [&] { return state_->running == 0; });
}

}  // namespace onelaunch::tasks
