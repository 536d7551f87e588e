#pragma once
// Patches of one file in the envelope that coding models write:
//
//   *** Begin Patch
//   *** Update File: kernel.cu
//   @@ a line that comes before the hunk, optional
//    unchanged
//   -removed
//   +added
//   *** End Patch

#include <cstddef>
#include <string>
#include <vector>

#include "base/result.h"

namespace onelaunch::agent {

struct Patched {
  struct Change {
    std::size_t first = 0, last = 0;  // lines of the new text
  };
  std::string text;
  std::vector<Change> changes;  // one a hunk
};

// Hunks come in file order; each is sought after the one before it, exactly first, then without the white space at the end
// of lines, then without that at their beginning too. Fails (invalid_input) with the hunk, the line of it that is nowhere to
// be found and the closest place. A hunk that fits at several places is an error too, unless `@@` lines tell them apart.
Result<Patched> apply_patch(const std::string& text, const std::string& patch);

}  // namespace onelaunch::agent
