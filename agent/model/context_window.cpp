#include "agent/model/context_window.h"

#include <algorithm>
#include <array>

namespace onelaunch::agent {
namespace {

struct Window {
  const char* part;  // of the model's name
  std::uint64_t tokens;
};

// The first that fits. As of December 2026.
constexpr std::array kWindows{Window{"gpt-4o", 128'000},    Window{"gpt-4.1", 1'000'000}, Window{"gpt-oss", 128'000},
                              Window{"gpt-", 272'000},      Window{"claude", 200'000},    Window{"gemini", 1'000'000},
                              Window{"deepseek", 128'000},  Window{"qwen", 128'000},
                              Window{"glm", 128'000}};

}  // namespace

std::uint64_t context_window_of(const std::string& provider, const std::string& model) {
  const auto known =
      std::ranges::find_if(kWindows, [&](const Window& window) { return model.find(window.part) != std::string::npos; });
  if (known != kWindows.end()) return known->tokens;
  return provider == "compat" ? 64'000 : 200'000;
}

}  // namespace onelaunch::agent
