#pragma once
// Ctrl-C and friends as a wish that the session heeds: caught by a thread of their own, never by a handler.

#include <signal.h>

#include <atomic>
#include <functional>
#include <mutex>
#include <thread>

#include "sandbox/host/sandbox.h"

namespace onelaunch::cli {

// While it lives, SIGINT, SIGTERM and SIGHUP call `on_signal` in its thread. Make it before any other thread is
// started: they all must inherit the blocked signals.
class SignalWatcher {
 public:
  explicit SignalWatcher(std::function<void()> on_signal);
  ~SignalWatcher();
  SignalWatcher(const SignalWatcher&) = delete;
  SignalWatcher& operator=(const SignalWatcher&) = delete;

 private:
  void watch();

  sigset_t watched_{}, before_{};
  std::function<void()> on_signal_;
  std::atomic<bool> ending_{false};
  std::thread thread_;
};

// The sandbox that a signal interrupts, while there is one. Any thread.
class InterruptTarget {
 public:
  void set(sandbox::Sandbox* sandbox);
  void interrupt();

 private:
  std::mutex mutex_;
  sandbox::Sandbox* sandbox_ = nullptr;
};

}  // namespace onelaunch::cli
