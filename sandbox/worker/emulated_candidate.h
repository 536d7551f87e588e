#pragma once
// A candidate's modules and buffers on the emulated device, worked by the host's messages.

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "base/unique_fd.h"
#include "sandbox/emulator/device.h"
#include "sandbox/protocol/messages.h"

namespace onelaunch::worker {

sandbox::DeviceFacts facts_of(const emu::DeviceProfile& profile);

class EmulatedCandidate {
 public:
  // Replaces modules and buffers. `weights`: backs the buffers that are parts of the weights.
  sandbox::SetupReply set_up(const sandbox::SetupJob& job, UniqueFd weights);
  sandbox::RunReply run(const sandbox::RunJob& job);
  // As on a GPU, with modelled times, so that what asks for them can be tried without one.
  sandbox::TimeReply time(const sandbox::TimeJob& job);
  sandbox::CountReply count(const sandbox::CountJob& job);

 private:
  std::optional<std::string> add_buffer(const sandbox::BufferSpec& spec, int weights);
  // The bytes [offset, offset + count) of a buffer; empty when there is no such part.
  std::span<std::byte> part(const std::string& buffer, std::uint64_t offset, std::uint64_t count);
  std::optional<std::string> write(const sandbox::RunJob& job);
  std::optional<std::string> launch(const sandbox::LaunchOrder& order, sandbox::RunReply& reply);
  std::optional<std::string> read(const sandbox::BufferRead& order, sandbox::RunReply& reply);

  struct Buffer { std::uint64_t address = 0, bytes = 0; bool weights = false; };
  UniqueFd weights_;
  std::unique_ptr<emu::Device> device_;
  std::map<std::string, std::shared_ptr<emu::LoadedModule>> modules_;
  std::map<std::string, Buffer> buffers_;
  std::vector<sandbox::LaunchOrder> kept_;
};

}  // namespace onelaunch::worker
