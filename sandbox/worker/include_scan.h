#pragma once
// What a compiler that cannot be confined must not be given: directives that open files of the machine.

#include <optional>
#include <string>

namespace onelaunch::worker {

// The first directive (after line splicing and outside comments) that names anything but a header by a plain relative
// name in angle brackets or quotes: "#include \"/etc/passwd\" in line 3". Macros in #include and __has_include are
// refused too, since what they name is not known here.
std::optional<std::string> forbidden_include(const std::string& source);

}  // namespace onelaunch::worker
