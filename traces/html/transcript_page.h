#pragma once
// Another program's transcript as one page of HTML: what it tells and what it does not. Works without JavaScript.

#include <filesystem>
#include <string>

#include "base/result.h"
#include "traces/foreign/transcript.h"

namespace onelaunch::traces {

// Long texts are folded; steps after the first `steps_max` are counted and left out.
std::string transcript_page(const Transcript& transcript, std::size_t steps_max = 5000);

// Writes index.html and the style that it uses into `folder`, which is made when it is missing.
Result<void> write_transcript_site(const Transcript& transcript, const std::filesystem::path& folder);

}  // namespace onelaunch::traces
