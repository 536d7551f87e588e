#include "agent/llm/address.h"

#include <cctype>

namespace onelaunch::llm {
namespace {

// "v1", "v1beta", "v2"
bool is_version(const std::string& segment) {
  return segment.size() >= 2 && segment[0] == 'v' && std::isdigit(static_cast<unsigned char>(segment[1]));
}

}  // namespace

std::string api_url(const std::string& base, const std::string& version, const std::string& path) {
  std::string url = base;
  while (!url.empty() && url.back() == '/') url.pop_back();
  const bool versioned = is_version(url.substr(url.rfind('/') + 1));
  return url + (versioned ? "" : version) + path;
}

std::string without_password(const std::string& url) {
  const std::size_t scheme = url.find("://");
  if (scheme == std::string::npos) return url;
  const std::size_t end = url.find_first_of("/?#", scheme + 3);
  const std::size_t at = url.substr(0, end).rfind('@');
  return at == std::string::npos ? url : url.substr(0, scheme + 3) + url.substr(at + 1);
}

}  // namespace onelaunch::llm
