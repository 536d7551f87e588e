#pragma once
// Parsing in tests: a failure fails the test and gives an empty module.

#include <gtest/gtest.h>

#include <string>

#include "sandbox/emulator/ptx/module.h"

namespace onelaunch::emu::ptx {

inline const std::string kHead = ".version 9.0\n.target sm_90a, debug\n.address_size 64\n";

inline Module parsed(const std::string& text) {
  auto module = parse(kHead + text);
  if (module) return std::move(*module);
  ADD_FAILURE() << module.error().message;
  return {};
}

inline Module parsed_body(const std::string& statements) {
  return parsed(".visible .entry k()\n{\n" + statements + "\n}\n");
}

inline std::string error_of(const std::string& text) {
  const auto module = parse(kHead + text);
  return module ? std::string() : module.error().message;
}

}  // namespace onelaunch::emu::ptx
