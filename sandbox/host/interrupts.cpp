#include "sandbox/host/interrupts.h"

#include <poll.h>
#include <sys/eventfd.h>

#include <cstdint>

#include "base/check.h"

namespace onelaunch::sandbox {

Interrupts::Scope::Scope(Interrupts& all) : all_(all), event_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  OL_CHECK(event_.get() >= 0, "an eventfd can be made");
  const std::lock_guard lock(all_.mutex_);
  all_.events_.push_back(event_.get());
}

Interrupts::Scope::~Scope() {
  const std::lock_guard lock(all_.mutex_);
  std::erase(all_.events_, event_.get());
}

bool Interrupts::Scope::raised() const {
  pollfd watched{event_.get(), POLLIN, 0};
  return ::poll(&watched, 1, 0) > 0;
}

void Interrupts::raise() {
  const std::lock_guard lock(mutex_);
  const std::uint64_t one = 1;
  for (const int event : events_) {
    // Only a full counter could refuse, and that is readable already.
    [[maybe_unused]] const ssize_t written = ::write(event, &one, sizeof one);
  }
}

}  // namespace onelaunch::sandbox
