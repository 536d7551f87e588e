#pragma once
// PTX text as statements of tokens, without comments and line information. Makes no sense of them: ptx_scan does.

#include <string>
#include <string_view>
#include <vector>

namespace onelaunch::sandbox {

struct PtxStatement {
  // Views into the text. A body's braces are not tokens: `depth` tells how many enclose the statement. Braces of
  // vectors and initialisers are tokens.
  std::vector<std::string_view> tokens;
  int depth = 0;
  int line = 0;       // in the PTX text
  int source_line = 0;  // of kernel.cu by the last .loc before it; 0 unknown
};

// Labels are dropped. Never fails: PTX that NVRTC would not emit gives statements that no rule knows.
std::vector<PtxStatement> ptx_statements(std::string_view ptx);

}  // namespace onelaunch::sandbox
