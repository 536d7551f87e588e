#pragma once
// The integer expressions of a task file: + - * / and parentheses over dims and loop indices, and "{expression}"
// inside names.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "base/result.h"

namespace onelaunch::tasks {

using Names = std::map<std::string, std::int64_t, std::less<>>;

// Fails (invalid_input) with what is wrong, without a place: the caller knows the line.
Result<std::int64_t> evaluate(std::string_view expression, const Names& names);

// "x.{i+1}" with i = 2 is "x.3".
Result<std::string> substitute(std::string_view text, const Names& names);

}  // namespace onelaunch::tasks
