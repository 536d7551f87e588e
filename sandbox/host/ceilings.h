#pragma once
// What a device can do at best, as measured on it (or, of the emulator, as its profile says), and where that is kept.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace onelaunch::sandbox {

struct StreamRate {
  std::string name;                    // "bulk ring, evict_first"
  std::uint64_t footprint_bytes = 0;   // what one launch reads; the launch's own time is in the rate
  bool resident = false;               // in L2, read again and again: says nothing about memory
  double tb_s = 0;
  std::string skipped;                 // why it was not measured; empty: it was
};

struct BarrierTime {
  int blocks_per_sm = 1;
  double us = 0;
  std::string skipped;
};

struct SeenClocks {                    // over all samples; 0 where the driver does not say
  std::uint32_t sm_mhz_low = 0, sm_mhz_high = 0, memory_mhz = 0, power_w_high = 0, temperature_c_high = 0;
  std::uint64_t throttle_reasons = 0;  // NVML's bits
};

struct Ceilings {
  std::string device, target, uuid, driver_version;
  std::string measured_at;             // UTC
  bool modelled = false;               // the emulator's profile; nothing was measured
  bool complete = false;               // all methods and footprints, not just those that make a session's floor
  double stream_tb_s = 0;              // the best of memory
  double grid_barrier_us = 0;          // with one block per SM
  double launch_us = 0, enqueue_us = 0;  // an empty cooperative launch: back to back on the device; the host's call
  int samples = 0;                     // that each median is of
  std::vector<StreamRate> methods;
  std::vector<BarrierTime> barriers;
  SeenClocks clocks;
};

std::string to_json(const Ceilings& ceilings);
// Fails (invalid_input) on anything that is not complete and finite.
Result<Ceilings> ceilings_from_json(const std::string& text);

// On disk, one file per device and driver version. A damaged file counts as missing.
class CeilingStore {
 public:
  explicit CeilingStore(std::filesystem::path cache_folder) : folder_(std::move(cache_folder) / "ceilings") {}

  // Those that are at most a day old at `now_utc`.
  std::optional<Ceilings> find(const std::string& uuid, const std::string& driver_version, const std::string& now_utc) const;
  // Fails (unavailable) when the disk refuses.
  Result<void> store(const Ceilings& ceilings) const;
  std::filesystem::path path_of(const std::string& uuid, const std::string& driver_version) const;

 private:
  std::filesystem::path folder_;
};

}  // namespace onelaunch::sandbox
