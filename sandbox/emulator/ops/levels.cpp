#include "sandbox/emulator/ops/levels.h"

namespace onelaunch::emu {

namespace ops {

bool supported(Level level) {
  if (level == Level::portable) return __builtin_cpu_supports("sse4.2") != 0;
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("f16c") &&
         __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("lzcnt");
}

}  // namespace ops

std::span<const OpcodeRow> arithmetic_rows() {
  static const std::span<const OpcodeRow> rows =
      ops::supported(ops::Level::avx2) ? avx2::rows() : portable::rows();
  return rows;
}

}  // namespace onelaunch::emu
