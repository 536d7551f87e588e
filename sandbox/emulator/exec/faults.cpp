#include "sandbox/emulator/exec/faults.h"

namespace onelaunch::emu {

bool FaultLog::is_new(Fault::Kind kind, std::uint32_t site) {
  const auto found = seen_.find({static_cast<int>(kind), site});
  if (found == seen_.end()) return true;
  ++found->second.second;
  return false;
}

void FaultLog::add(Fault::Kind kind, std::uint32_t site, std::string message) {
  seen_[{static_cast<int>(kind), site}] = {faults_.size(), 1};
  faults_.push_back({kind, std::move(message), where(site)});
  if (static_cast<int>(faults_.size()) >= errors_max_) stopped_ = true;
}

std::vector<Fault> FaultLog::take() {
  for (const auto& [key, entry] : seen_) {
    if (entry.second > 1) faults_[entry.first].message += " (" + std::to_string(entry.second) + " times)";
  }
  seen_.clear();
  return std::move(faults_);
}

std::string FaultLog::where(std::uint32_t site) const {
  if (site >= program_.sites.size()) return {};
  const Site& from = program_.sites[site];
  std::string text = from.location >= 0 ? program_.module->where(from.location) : std::string();
  if (text.empty()) text = "PTX line " + std::to_string(from.ptx_line);
  return text;
}

std::string FaultLog::place(std::uint32_t site) const {
  if (site >= program_.sites.size()) return "an unknown place";
  return program_.sites[site].opcode + " at " + where(site);
}

}  // namespace onelaunch::emu
