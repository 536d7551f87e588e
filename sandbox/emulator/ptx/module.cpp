#include "sandbox/emulator/ptx/module.h"

#include <algorithm>

namespace onelaunch::emu::ptx {

bool Instruction::has(std::string_view modifier) const {
  return std::find(modifiers.begin(), modifiers.end(), modifier) != modifiers.end();
}

const Function* Module::find(std::string_view name) const {
  const auto found =
      std::find_if(functions.begin(), functions.end(), [name](const Function& f) { return f.name == name; });
  return found == functions.end() ? nullptr : &*found;
}

std::string Module::where(int location) const {
  const auto place = [this](const Location& at) {
    const auto file = files.find(at.file);
    std::string name = file == files.end() ? "file " + std::to_string(at.file) : file->second;
    name.erase(0, name.rfind('/') + 1);  // npos + 1 is 0
    return name + ":" + std::to_string(at.line);
  };
  if (location < 0 || location >= static_cast<int>(locations.size())) return {};
  const Location* at = &locations[static_cast<std::size_t>(location)];
  std::string text = place(*at);
  if (at->inlined_at < 0) return text;
  text += " (inlined at ";
  // A location refers to earlier ones only, so the chain ends.
  for (bool first = true; at->inlined_at >= 0; first = false) {
    at = &locations[static_cast<std::size_t>(at->inlined_at)];
    text += (first ? "" : ", ") + place(*at);
  }
  return text + ")";
}

}  // namespace onelaunch::emu::ptx
