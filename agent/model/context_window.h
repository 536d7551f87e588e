#pragma once
// How much a model can read and write in one conversation.

#include <cstdint>
#include <string>

namespace onelaunch::agent {

// Tokens. A name that is not known gets a cautious guess for its provider: one too small only means that conversations
// are begun anew earlier, and one too large that the provider says so.
std::uint64_t context_window_of(const std::string& provider, const std::string& model);

}  // namespace onelaunch::agent
