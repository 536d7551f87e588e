// The emulator's reader of PTX, which a compiler made out of anybody's source.
#include "sandbox/emulator/ptx/module.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto module = onelaunch::emu::ptx::parse({reinterpret_cast<const char*>(data), size});
  if (module)
    for (int location = -1; location < 4; ++location) (void)module->where(location);
  return 0;
}
