#pragma once
// Servers that count in UTF-16 cut a text between the two halves of a character, and send each as an escape of its own.
// No JSON parser takes that: the halves are marked with private characters, and joined when the text is complete.

#include <string>
#include <string_view>

namespace onelaunch::llm {

// JSON text in which escaped halves that stand alone are marks.
std::string with_halves_marked(std::string_view json);
// Adjoining marks become the character; one that is still alone becomes U+FFFD.
std::string with_halves_joined(std::string text);

}  // namespace onelaunch::llm
