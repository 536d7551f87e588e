#pragma once
// Vector clocks: for every agent (a warp, or what copies on behalf of one) up to which of its steps all is known to have
// happened. Copies share their numbers until one of them changes.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace onelaunch::emu {

using Agent = std::uint32_t;

class Clock {
 public:
  std::uint32_t of(Agent agent) const { return steps_ && agent < steps_->size() ? (*steps_)[agent] : 0; }
  bool same_as(const Clock& other) const { return steps_ == other.steps_; }
  void clear() { steps_.reset(); }

  void raise(Agent agent, std::uint32_t step) {
    if (of(agent) >= step) return;
    own(agent + 1);
    (*steps_)[agent] = step;
  }
  void join(const Clock& other) {
    if (!other.steps_ || steps_ == other.steps_) return;
    if (!steps_) return void(steps_ = other.steps_);
    own(other.steps_->size());
    std::uint32_t* const mine = steps_->data();
    const std::uint32_t* const theirs = other.steps_->data();
    for (std::size_t i = 0; i < other.steps_->size(); ++i) mine[i] = std::max(mine[i], theirs[i]);
  }

 private:
  void own(std::size_t size) {
    if (!steps_) steps_ = std::make_shared<std::vector<std::uint32_t>>();
    else if (steps_.use_count() > 1) steps_ = std::make_shared<std::vector<std::uint32_t>>(*steps_);
    if (steps_->size() < size) steps_->resize(size, 0);
  }
  std::shared_ptr<std::vector<std::uint32_t>> steps_;
};

}  // namespace onelaunch::emu
