#pragma once
// What the program's exit status says, the same for every subcommand.

#include <iostream>

#include "base/result.h"

namespace onelaunch::cli {

constexpr int kOk = 0;        // or kept
constexpr int kOurError = 1;  // or no session
constexpr int kUsage = 2;
constexpr int kRejected = 3;
constexpr int kReverted = 4;
constexpr int kInterrupted = 130;

// Prints the error; input that can be corrected is a matter of usage.
inline int report(const Error& error) {
  std::cerr << "onelaunch: " << error.message << "\n";
  return error.kind == Error::Kind::invalid_input ? kUsage : kOurError;
}

}  // namespace onelaunch::cli
