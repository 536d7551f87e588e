#include "agent/cli/terminal.h"

#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <iostream>

#include "agent/loop/budget.h"

namespace onelaunch::cli {
namespace {

constexpr Seconds kQuiet{2};  // what is shorter needs no progress line
constexpr std::chrono::milliseconds kTick{500};

}  // namespace

std::string format_number(const char* format, double value) {
  char text[64];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

ProgressLine::ProgressLine() : terminal_(::isatty(STDERR_FILENO) == 1) {
  if (terminal_) ticker_ = std::thread([this] { tick(); });
}

ProgressLine::~ProgressLine() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
    erase();
  }
  wake_.notify_all();
  if (ticker_.joinable()) ticker_.join();
}

void ProgressLine::busy(const std::string& what) {
  const std::lock_guard lock(mutex_);
  if (what == what_) return;
  what_ = what;
  since_ = clock_.now();
}

void ProgressLine::done() {
  const std::lock_guard lock(mutex_);
  what_.clear();
  erase();
}

void ProgressLine::print(const std::string& line) {
  const std::lock_guard lock(mutex_);
  erase();
  std::cout << line << std::endl;
}

void ProgressLine::tick() {
  std::unique_lock lock(mutex_);
  while (!ending_) {
    wake_.wait_for(lock, kTick);
    const Seconds took = clock_.now() - since_;
    if (ending_ || what_.empty() || took < kQuiet) continue;
    std::cerr << "\r\033[K  " << what_ << " ... " << agent::print_duration(took) << std::flush;
    shown_ = true;
  }
}

void ProgressLine::erase() {
  if (shown_) std::cerr << "\r\033[K" << std::flush;
  shown_ = false;
}

}  // namespace onelaunch::cli
