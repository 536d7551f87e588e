#include "agent/cli/signals.h"

#include <utility>

namespace onelaunch::cli {

SignalWatcher::SignalWatcher(std::function<void()> on_signal) : on_signal_(std::move(on_signal)) {
  sigemptyset(&watched_);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&watched_, signal);
  ::pthread_sigmask(SIG_BLOCK, &watched_, &before_);
  thread_ = std::thread([this] { watch(); });
}

SignalWatcher::~SignalWatcher() {
  ending_ = true;
  thread_.join();
  ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

void SignalWatcher::watch() {
  const timespec look_again{.tv_sec = 0, .tv_nsec = 100'000'000};
  while (!ending_)
    if (::sigtimedwait(&watched_, nullptr, &look_again) > 0) on_signal_();
}

void InterruptTarget::set(sandbox::Sandbox* sandbox) {
  const std::lock_guard lock(mutex_);
  sandbox_ = sandbox;
}

void InterruptTarget::interrupt() {
  const std::lock_guard lock(mutex_);
  if (sandbox_) sandbox_->interrupt();
}

}  // namespace onelaunch::cli
