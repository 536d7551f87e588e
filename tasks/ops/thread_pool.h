#pragma once
// Threads that share the iterations of a loop. What an iteration computes must not depend on who runs it.

#include <cstddef>
#include <functional>
#include <memory>

namespace onelaunch::tasks {

class ThreadPool {
 public:
  explicit ThreadPool(int threads);  // the caller counts as one; at least 1
  ~ThreadPool();

  // Calls body(0) to body(count - 1), each once, and returns when all are done. Not reentrant; body must not throw.
  void for_each(std::size_t count, const std::function<void(std::size_t)>& body);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace onelaunch::tasks
