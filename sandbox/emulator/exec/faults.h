#pragma once
// What a kernel did wrong, collected once per place.

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "sandbox/emulator/device.h"
#include "sandbox/emulator/program/program.h"

namespace onelaunch::emu {

class FaultLog {
 public:
  FaultLog(const Program& program, int errors_max) : program_(program), errors_max_(errors_max) {}

  // True when this kind at this site is new: only then is it worth composing a message.
  bool is_new(Fault::Kind kind, std::uint32_t site);
  void add(Fault::Kind kind, std::uint32_t site, std::string message);
  void stop() { stopped_ = true; }
  bool stopped() const { return stopped_; }  // the launch must not go on
  std::vector<Fault> take();                 // messages completed with how often each happened

  // "ld.global.u32 at kernel.cu:212", or the PTX line when there is no line information.
  std::string place(std::uint32_t site) const;
  std::string where(std::uint32_t site) const;

 private:
  const Program& program_;
  int errors_max_;
  bool stopped_ = false;
  std::map<std::pair<int, std::uint32_t>, std::pair<std::size_t, std::uint64_t>> seen_;  // -> index in faults_, count
  std::vector<Fault> faults_;
};

}  // namespace onelaunch::emu
