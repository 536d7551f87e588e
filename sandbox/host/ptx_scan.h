#pragma once
// What the static gate wants to know about a compiled module, found in its PTX tokens: a source text can hide or fake it,
// the tokens cannot.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace onelaunch::sandbox {

struct PtxFinding {
  std::string rule;      // "mutable_global", "special_register", "undefined_function", "instruction"
  std::string what;      // "%globaltimer"
  int source_line = 0;   // of kernel.cu; 0 unknown
};

struct PtxFacts {
  std::vector<std::string> entries;
  std::map<std::string, std::uint64_t> threads_max;             // by entry, from __launch_bounds__; absent: no bound
  std::map<std::string, std::uint64_t> parameter_bytes;         // by entry
  std::map<std::string, std::vector<std::uint64_t>> constants;  // 64-bit words of the .const variables ol_*
  std::vector<PtxFinding> findings;                             // what a candidate may not contain
};

PtxFacts scan_ptx(std::string_view ptx);

}  // namespace onelaunch::sandbox
