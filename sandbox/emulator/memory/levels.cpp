#include "sandbox/emulator/memory/load_store.h"

namespace onelaunch::emu {
namespace {

enum class Level { base, v3, v4 };

Level host_level() {
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512vl")) {
    return Level::v4;
  }
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2") ? Level::v3 : Level::base;
}

}  // namespace

OpFn pick_load(AccessForm form) {
  static const Level level = host_level();
  return level == Level::v4 ? level_v4::pick_load(form) : level == Level::v3 ? level_v3::pick_load(form) : level_base::pick_load(form);
}

OpFn pick_store(AccessForm form) {
  static const Level level = host_level();
  return level == Level::v4 ? level_v4::pick_store(form) : level == Level::v3 ? level_v3::pick_store(form) : level_base::pick_store(form);
}

}  // namespace onelaunch::emu
