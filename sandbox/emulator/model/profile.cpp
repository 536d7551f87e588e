#include "sandbox/emulator/model/profile.h"

namespace onelaunch::emu {

DeviceProfile h200_profile() {
  DeviceProfile profile;
  profile.name = "H200";
  profile.target = "sm_90a";
  return profile;
}

}  // namespace onelaunch::emu
