#pragma once
// Environment variables of one test: what a developer has set neither helps nor harms it.

#include <cstdlib>
#include <map>
#include <optional>
#include <string>

namespace onelaunch::llm {

class Variables {
 public:
  Variables() {
    for (const char* name : {"ANTHROPIC_API_KEY",
                             "ANTHROPIC_AUTH_TOKEN",
                             "ANTHROPIC_BASE_URL",
                             "OPENAI_API_KEY",
                             "OPENAI_BASE_URL",
                             "GEMINI_API_KEY",
                             "GOOGLE_API_KEY",
                             "GEMINI_BASE_URL",
                             "GOOGLE_GEMINI_BASE_URL",
                             "ONELAUNCH_API_KEY",
                             "ONELAUNCH_BASE_URL",
                             "http_proxy",
                             "https_proxy",
                             "HTTPS_PROXY",
                             "all_proxy",
                             "ALL_PROXY",
                             "no_proxy",
                             "NO_PROXY",
                             "CURL_CA_BUNDLE",
                             "SSL_CERT_FILE",
                             "SSL_CERT_DIR"}) {
      remember(name);
      ::unsetenv(name);
    }
  }
  Variables(const Variables&) = delete;
  Variables& operator=(const Variables&) = delete;
  ~Variables() {
    for (const auto& [name, value] : before_)
      value ? ::setenv(name.c_str(), value->c_str(), 1) : ::unsetenv(name.c_str());
  }
  void set(const std::string& name, const std::string& value) {
    remember(name);
    ::setenv(name.c_str(), value.c_str(), 1);
  }

 private:
  void remember(const std::string& name) {
    const char* value = std::getenv(name.c_str());
    before_.emplace(name, value ? std::optional<std::string>(value) : std::nullopt);
  }
  std::map<std::string, std::optional<std::string>> before_;
};

}  // namespace onelaunch::llm
