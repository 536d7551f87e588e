#include "agent/cli/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <iostream>
#include <utility>

#include "agent/loop/budget.h"

namespace onelaunch::cli {
namespace {

constexpr Seconds kQuiet{2};  // what is shorter needs no progress line
constexpr std::chrono::milliseconds kTick{500};

// Of the terminal; a usual width where it does not say.
std::size_t columns() {
  winsize size{};
  return ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1 ? size.ws_col - 1u : 79u;
}

// A line that wraps could not be erased.
std::string fitted(const std::string& line, std::size_t width) {
  if (line.size() <= width) return line;
  std::size_t cut = width > 3 ? width - 3 : 0;
  while (cut > 0 && (static_cast<unsigned char>(line[cut]) & 0xC0) == 0x80) --cut;
  return line.substr(0, cut) + "...";
}

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

void ProgressLine::lead(std::function<std::string()> text) {
  const std::lock_guard lock(mutex_);
  lead_ = std::move(text);
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
    if (ending_ || what_.empty() || (took < kQuiet && !lead_)) continue;
    std::string line = "  " + (lead_ ? lead_() + " | " : "") + what_;
    if (took >= kQuiet) line += " ... " + agent::print_duration(took);
    std::cerr << "\r\033[K" << fitted(line, columns()) << std::flush;
    shown_ = true;
  }
}

void ProgressLine::erase() {
  if (shown_) std::cerr << "\r\033[K" << std::flush;
  shown_ = false;
}

}  // namespace onelaunch::cli
