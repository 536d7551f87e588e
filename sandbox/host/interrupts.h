#pragma once
// Lets any thread end what others are waiting for. Each piece of work registers itself while it runs.

#include <mutex>
#include <vector>

#include "base/unique_fd.h"

namespace onelaunch::sandbox {

class Interrupts {
 public:
  // Work in progress. Its fd becomes readable, and stays so, once raise() was called during its life.
  class Scope {
   public:
    explicit Scope(Interrupts& all);
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;
    int fd() const { return event_.get(); }
    bool raised() const;

   private:
    Interrupts& all_;
    UniqueFd event_;
  };

  void raise();

 private:
  std::mutex mutex_;
  std::vector<int> events_;
};

}  // namespace onelaunch::sandbox
