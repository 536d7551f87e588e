#pragma once
// Which .global variables of a module may be written: the memory that a candidate must not keep between launches.

#include <string>
#include <vector>

#include "sandbox/host/ptx_tokens.h"

namespace onelaunch::sandbox {

struct WrittenGlobal {
  std::string name;
  int source_line = 0;  // of the write; 0 unknown
};

// A variable counts as written when a store, an atomic or a copy may go through its address, or when the address leaves
// our sight (stored, or passed to a function other than printf's and assert's). Constant tables, those of CUDA's
// headers among them, are only ever read. Text literals, which only the compiler can make ("$str"), are exempt.
std::vector<WrittenGlobal> written_globals(const std::vector<PtxStatement>& statements);

}  // namespace onelaunch::sandbox
