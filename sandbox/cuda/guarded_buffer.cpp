#include "sandbox/cuda/guarded_buffer.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace onelaunch::cuda {
namespace {

constexpr std::byte kCanary{0xa5};

CUmemAllocationProp properties(int device) {
  CUmemAllocationProp properties{};
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, {device}};
  return properties;
}

std::uint64_t round_up(std::uint64_t value, std::uint64_t multiple) { return (value + multiple - 1) / multiple * multiple; }

}  // namespace

Result<GuardedBuffer> GuardedBuffer::create(const Driver& driver, int device, std::uint64_t bytes) {
  GuardedBuffer buffer(driver, device);
  buffer.bytes_ = bytes;
  std::size_t granularity = 0;
  const CUmemAllocationProp wanted = properties(device);
  if (auto done = check(driver, driver.cuMemGetAllocationGranularity(&granularity, &wanted, CU_MEM_ALLOC_GRANULARITY_RECOMMENDED), "cuMemGetAllocationGranularity"); !done)
    return because(done.error());
  if (auto done = buffer.map(granularity); !done) return because(done.error());
  if (auto done = buffer.write_canaries(); !done) return because(done.error());
  return buffer;
}

Result<void> GuardedBuffer::map(std::uint64_t granularity) {
  mapped_bytes_ = round_up(std::max<std::uint64_t>(bytes_, 1), granularity);
  reserved_bytes_ = mapped_bytes_ + 2 * granularity;
  const CUmemAllocationProp wanted = properties(device_);
  if (auto done = check(*driver_, driver_->cuMemAddressReserve(&reserved_, reserved_bytes_, 0, 0, 0), "cuMemAddressReserve"); !done)
    return done;
  if (auto done = check(*driver_, driver_->cuMemCreate(&memory_, mapped_bytes_, &wanted, 0), "cuMemCreate of " + std::to_string(mapped_bytes_ >> 20) + " MiB"); !done)
    return done;
  has_memory_ = true;
  mapped_ = reserved_ + granularity;
  if (auto done = check(*driver_, driver_->cuMemMap(mapped_, mapped_bytes_, 0, memory_, 0), "cuMemMap"); !done) return done;
  is_mapped_ = true;
  payload_ = mapped_ + (mapped_bytes_ - bytes_) / kAlignment * kAlignment;
  return allow(CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
}

Result<void> GuardedBuffer::allow(CUmemAccess_flags access) {
  CUmemAccessDesc wanted{};
  wanted.location = {CU_MEM_LOCATION_TYPE_DEVICE, {device_}};
  wanted.flags = access;
  return check(*driver_, driver_->cuMemSetAccess(mapped_, mapped_bytes_, &wanted, 1), "cuMemSetAccess");
}

Result<void> GuardedBuffer::seal() {
  auto done = allow(CU_MEM_ACCESS_FLAGS_PROT_READ);
  sealed_ = static_cast<bool>(done);
  return done;
}

Result<void> GuardedBuffer::write_canaries() {
  const auto value = static_cast<unsigned char>(kCanary);
  const std::uint64_t before = payload_ - mapped_, behind = mapped_ + mapped_bytes_ - (payload_ + bytes_);
  for (const auto& [start, bytes] : {std::pair(mapped_, before), std::pair(payload_ + bytes_, behind)})
    if (bytes > 0)
      if (auto done = check(*driver_, driver_->cuMemsetD8Async(start, value, bytes, nullptr), "cuMemsetD8Async"); !done) return done;
  return {};
}

Result<bool> GuardedBuffer::holds_canaries(CUdeviceptr from, CUdeviceptr to) const {
  std::vector<std::byte> found(to - from);
  if (!found.empty())
    if (auto done = check(*driver_, driver_->cuMemcpyDtoH(found.data(), from, found.size()), "cuMemcpyDtoH"); !done) return because(done.error());
  return std::ranges::all_of(found, [](std::byte byte) { return byte == kCanary; });
}

Result<bool> GuardedBuffer::intact(Slack slack) const {
  const std::uint64_t before = payload_ - mapped_;
  const CUdeviceptr first = slack == Slack::whole ? mapped_ : payload_ - std::min(kCanaryBytes, before);
  auto holds = holds_canaries(first, payload_);
  if (holds && *holds) holds = holds_canaries(payload_ + bytes_, mapped_ + mapped_bytes_);
  return holds;
}

GuardedBuffer::GuardedBuffer(GuardedBuffer&& other) noexcept
    : driver_(other.driver_),
      device_(other.device_),
      reserved_(std::exchange(other.reserved_, 0)),
      mapped_(other.mapped_),
      payload_(other.payload_),
      reserved_bytes_(other.reserved_bytes_),
      mapped_bytes_(other.mapped_bytes_),
      bytes_(other.bytes_),
      memory_(other.memory_),
      has_memory_(std::exchange(other.has_memory_, false)),
      is_mapped_(std::exchange(other.is_mapped_, false)),
      sealed_(other.sealed_) {}

GuardedBuffer::~GuardedBuffer() {
  if (is_mapped_) driver_->cuMemUnmap(mapped_, mapped_bytes_);
  if (has_memory_) driver_->cuMemRelease(memory_);
  if (reserved_ != 0) driver_->cuMemAddressFree(reserved_, reserved_bytes_);
}

}  // namespace onelaunch::cuda
