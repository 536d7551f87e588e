#pragma once
// The prompts as they lie in this folder, built in.

#include <string_view>

namespace onelaunch::agent {

std::string_view system_text();   // system.md
std::string_view craft_text();    // craft.md: what is known about GPUs of one kind
std::string_view first_text();    // first.md: with {names} to be filled in
std::string_view restart_text();  // restart.md: the same

}  // namespace onelaunch::agent
