#pragma once
// The buffers of a job on a GPU: filled, written, copied, read, and found intact.

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sandbox/cuda/device.h"
#include "sandbox/cuda/guarded_buffer.h"
#include "sandbox/protocol/messages.h"

namespace onelaunch::worker {

using Problem = std::optional<std::string>;  // ours, never the candidate's

// What buffers shall hold, made once so that it can be put there often. Borrows the orders.
struct Contents {
  std::span<const sandbox::BufferFill> fills;
  std::vector<std::string> poisons;  // one for each fill; empty for zeros
  std::span<const sandbox::BufferWrite> writes;
  std::span<const sandbox::BufferCopy> copies;
};

class CudaBuffers {
 public:
  explicit CudaBuffers(const cuda::Device& device) : device_(device) {}

  Problem add(const sandbox::BufferSpec& spec);
  void clear() { buffers_.clear(); }
  // The address of a part of a buffer; 0 when there is no such part.
  CUdeviceptr part(const std::string& buffer, std::uint64_t offset, std::uint64_t bytes) const;

  // Of a RunJob or a TimedChain.
  template <class Order>
  Contents contents(const Order& order) const {
    return contents_of(order.fills, order.writes, order.copies);
  }
  // Enqueues it: fills, writes, copies.
  Problem put(const Contents& contents, CUstream stream) const;
  // Adds what was read, or its digest. Waits for the device.
  Problem read(std::span<const sandbox::BufferRead> orders, std::vector<std::string>& reads) const;
  Problem seal(const std::string& buffer);
  // A fault for each buffer that was written beside. Waits for the device.
  Problem check_slack(cuda::GuardedBuffer::Slack slack, const std::string& entry, std::vector<sandbox::LaunchFault>& faults) const;

 private:
  Contents contents_of(std::span<const sandbox::BufferFill> fills, std::span<const sandbox::BufferWrite> writes,
                       std::span<const sandbox::BufferCopy> copies) const;
  // As part(), but of a buffer that may be written.
  CUdeviceptr writable(const std::string& buffer, std::uint64_t offset, std::uint64_t bytes) const;
  Problem fill(const sandbox::BufferFill& order, const std::string& poison, CUstream stream) const;
  Problem write(const sandbox::BufferWrite& order, CUstream stream) const;
  Problem copy(const sandbox::BufferCopy& order, CUstream stream) const;
  Problem checked(CUresult result, const char* call) const;

  const cuda::Device& device_;
  std::map<std::string, cuda::GuardedBuffer> buffers_;
};

}  // namespace onelaunch::worker
