#pragma once
// Where an API lives.

#include <string>

namespace onelaunch::llm {

// base + version + path; the version is left out when base names one already: both ".../v1" and "..." are in use.
std::string api_url(const std::string& base, const std::string& version, const std::string& path);

// The same without name and password, for messages.
std::string without_password(const std::string& url);

}  // namespace onelaunch::llm
