#pragma once
// Runs a kernel under the detectors and looks at what they say.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/sandbox/emulator/exec/emulated_kernel.h"

namespace onelaunch::emu {

constexpr Checks kRaces{.races = true};
constexpr Checks kUndefined{.undefined = true};

inline std::string said(const LaunchReport& report) {
  std::string text;
  for (const Fault& fault : report.faults) text += fault.message + "\n";
  return text;
}

// Under several schedules: always this kind of fault, or never any.
enum class Verdict { clean, race };
inline void expect_verdict(Verdict verdict, const std::string& source, LaunchShape shape, std::size_t words, const std::string& what = {}) {
  EmulatedKernel kernel(source);
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    SCOPED_TRACE(what + " seed " + std::to_string(seed));
    std::vector<std::uint64_t> parameters;
    for (int i = 0; i < 3; ++i) parameters.push_back(kernel.buffer(std::vector<std::uint32_t>(words), "buffer " + std::to_string(i)));
    const LaunchReport report = kernel.run(shape, parameters, {.schedule_seed = seed, .checks = kRaces});
    if (verdict == Verdict::clean) expect_no_fault(report);
    else expect_fault(report, Fault::Kind::data_race, "data race in kernel");
  }
}

}  // namespace onelaunch::emu
