// The static gate: declarations and forbidden code in PTX tokens.
#include "sandbox/host/static_gate.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace onelaunch::sandbox;
  DeviceFacts device;
  device.target = "sm_90a";
  device.sms = 132, device.threads_per_sm = 2048, device.threads_per_block = 1024, device.blocks_per_sm = 32;
  device.registers_per_sm = 65536, device.registers_per_thread = 255;
  device.shared_per_sm = 233472, device.shared_per_block = 232448, device.shared_reserved_per_block = 1024;
  CompileReply reply;
  reply.status = CompileReply::Status::compiled;
  reply.ptx.assign(reinterpret_cast<const char*>(data), size);
  reply.entries.push_back({"megakernel", 64, 0, 0, 0});
  GateLimits limits = gate_limits(1 << 20);
  limits.args_bytes = 8;
  for (const bool marked : {false, true}) {
    limits.marked = marked;
    const auto verdict = static_gate(reply, device, limits);
    // What passes can be launched: the grid is one that fits.
    if (const Declarations* passed = std::get_if<Declarations>(&verdict))
      if (const auto blocks = grid_blocks(passed->launch.grid, device); blocks == 0 || blocks > 132 * 32) __builtin_trap();
  }
  return 0;
}
