#include "sandbox/worker/cuda_buffers.h"

#include "base/sha256.h"
#include "sandbox/protocol/poison.h"

namespace onelaunch::worker {
namespace {

std::string no_such_part(const std::string& buffer) {
  return "the host named a part of " + buffer + " that does not exist, or that is sealed";
}

}  // namespace

Problem CudaBuffers::checked(CUresult result, const char* call) const {
  if (result == CUDA_SUCCESS) return std::nullopt;
  return describe(device_.driver(), result, call);
}

Problem CudaBuffers::add(const sandbox::BufferSpec& spec) {
  if (spec.weights) return "the buffer " + spec.name + " is to hold weights of the host's: on a GPU they are made there";
  auto buffer = cuda::GuardedBuffer::create(device_.driver(), device_.ordinal(), spec.bytes);
  if (!buffer) return "making the buffer " + spec.name + " of " + std::to_string(spec.bytes) + " bytes: " + buffer.error().message;
  buffers_.emplace(spec.name, std::move(*buffer));
  return std::nullopt;
}

CUdeviceptr CudaBuffers::part(const std::string& buffer, std::uint64_t offset, std::uint64_t bytes) const {
  const auto found = buffers_.find(buffer);
  if (found == buffers_.end() || offset > found->second.bytes() || found->second.bytes() - offset < bytes) return 0;
  return found->second.address() + offset;
}

CUdeviceptr CudaBuffers::writable(const std::string& buffer, std::uint64_t offset, std::uint64_t bytes) const {
  const auto found = buffers_.find(buffer);
  return found == buffers_.end() || found->second.sealed() ? 0 : part(buffer, offset, bytes);
}

Contents CudaBuffers::contents_of(std::span<const sandbox::BufferFill> fills, std::span<const sandbox::BufferWrite> writes,
                                  std::span<const sandbox::BufferCopy> copies) const {
  Contents contents{fills, {}, writes, copies};
  for (const sandbox::BufferFill& fill : fills) {
    const auto found = buffers_.find(fill.buffer);
    std::string& poison = contents.poisons.emplace_back(fill.poison && found != buffers_.end() ? found->second.bytes() : 0, '\0');
    sandbox::fill_poison(std::as_writable_bytes(std::span(poison)), fill.seed);
  }
  return contents;
}

Problem CudaBuffers::fill(const sandbox::BufferFill& order, const std::string& poison, CUstream stream) const {
  const auto found = buffers_.find(order.buffer);
  const std::uint64_t bytes = found != buffers_.end() ? found->second.bytes() : 0;
  const CUdeviceptr address = writable(order.buffer, 0, bytes);
  if (address == 0) return no_such_part(order.buffer);
  if (bytes == 0) return std::nullopt;
  const cuda::Driver& driver = device_.driver();
  if (!order.poison) return checked(driver.cuMemsetD8Async(address, 0, bytes, stream), "cuMemsetD8Async");
  return checked(driver.cuMemcpyHtoDAsync(address, poison.data(), bytes, stream), "cuMemcpyHtoDAsync");
}

Problem CudaBuffers::write(const sandbox::BufferWrite& order, CUstream stream) const {
  if (order.bytes.empty()) return std::nullopt;
  const CUdeviceptr address = writable(order.buffer, order.offset, order.bytes.size());
  if (address == 0) return no_such_part(order.buffer);
  return checked(device_.driver().cuMemcpyHtoDAsync(address, order.bytes.data(), order.bytes.size(), stream), "cuMemcpyHtoDAsync");
}

Problem CudaBuffers::copy(const sandbox::BufferCopy& order, CUstream stream) const {
  if (order.bytes == 0) return std::nullopt;
  const CUdeviceptr from = part(order.from, order.from_offset, order.bytes), to = writable(order.to, order.to_offset, order.bytes);
  if (from == 0 || to == 0) return no_such_part(order.from + " or " + order.to);
  return checked(device_.driver().cuMemcpyDtoDAsync(to, from, order.bytes, stream), "cuMemcpyDtoDAsync");
}

Problem CudaBuffers::put(const Contents& contents, CUstream stream) const {
  Problem problem;
  for (std::size_t i = 0; i < contents.fills.size(); ++i)
    if (!problem) problem = fill(contents.fills[i], contents.poisons[i], stream);
  for (const sandbox::BufferWrite& order : contents.writes)
    if (!problem) problem = write(order, stream);
  for (const sandbox::BufferCopy& order : contents.copies)
    if (!problem) problem = copy(order, stream);
  return problem;
}

Problem CudaBuffers::read(std::span<const sandbox::BufferRead> orders, std::vector<std::string>& reads) const {
  for (const sandbox::BufferRead& order : orders) {
    const CUdeviceptr address = part(order.buffer, order.offset, order.bytes);
    if (address == 0 && order.bytes > 0) return no_such_part(order.buffer);
    std::string content(order.bytes, '\0');
    if (order.bytes > 0)
      if (auto problem = checked(device_.driver().cuMemcpyDtoH(content.data(), address, order.bytes), "cuMemcpyDtoH")) return problem;
    reads.push_back(order.digest ? sha256_hex(content) : std::move(content));
  }
  return std::nullopt;
}

Problem CudaBuffers::seal(const std::string& buffer) {
  const auto found = buffers_.find(buffer);
  if (found == buffers_.end()) return no_such_part(buffer);
  if (auto sealed = found->second.seal(); !sealed) return sealed.error().message;
  return std::nullopt;
}

Problem CudaBuffers::check_slack(cuda::GuardedBuffer::Slack slack, const std::string& entry, std::vector<sandbox::LaunchFault>& faults) const {
  for (const auto& [name, buffer] : buffers_) {
    if (buffer.sealed()) continue;
    const auto intact = buffer.intact(slack);
    if (!intact) return intact.error().message;
    if (!*intact) faults.push_back({"out_of_bounds", entry + " wrote before or behind the buffer " + name});
  }
  return std::nullopt;
}

}  // namespace onelaunch::worker
