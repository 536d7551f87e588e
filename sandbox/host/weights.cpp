#include "sandbox/host/weights.h"

#include <fcntl.h>
#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace onelaunch::sandbox {
namespace {

auto refused(const char* what) {
  return unavailable(std::string("memory for the weights: ") + what + ": " + std::strerror(errno));
}

}  // namespace

Result<std::shared_ptr<const Weights>> Weights::make(const tasks::Task& task, std::uint64_t seed, tasks::InputSet set,
                                                     int threads) {
  std::shared_ptr<Weights> weights(new Weights(task));
  weights->memory_.reset(::memfd_create("onelaunch-weights", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!weights->memory_) return refused("memfd_create");
  const std::size_t bytes = std::max<std::size_t>(weights->arena_.bytes, 1);
  const int fd = weights->memory_.get();
  if (::ftruncate(fd, static_cast<off_t>(bytes)) != 0) return refused("ftruncate");
  void* writable = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (writable == MAP_FAILED) return refused("mmap");
  tasks::fill_weights(task, seed, set, {static_cast<std::byte*>(writable), weights->arena_.bytes}, threads);
  ::munmap(writable, bytes);
  if (::fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL) != 0)
    return refused("sealing");
  void* readable = ::mmap(nullptr, bytes, PROT_READ, MAP_SHARED, fd, 0);
  if (readable == MAP_FAILED) return refused("mmap");
  weights->bytes_ = static_cast<const std::byte*>(readable);
  weights->mapped_ = bytes;
  return std::shared_ptr<const Weights>(std::move(weights));
}

Weights::~Weights() {
  if (bytes_ != nullptr) ::munmap(const_cast<std::byte*>(bytes_), mapped_);
}

bool strict_differs(const tasks::Task& task, const tasks::Tensor& weight) {
  // The three members of an int4 weight are drawn together.
  const std::string owner = weight.name.substr(0, weight.name.rfind('.'));
  if (const tasks::Quantised* quantised = task.find_quantised(owner)) return quantised->nominal != quantised->strict;
  return weight.nominal != weight.strict;
}

bool strict_weights_differ(const tasks::Task& task) {
  return std::ranges::any_of(task.with(tasks::Role::weight),
                             [&](const tasks::Tensor* weight) { return strict_differs(task, *weight); });
}

}  // namespace onelaunch::sandbox
