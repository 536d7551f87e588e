// Who may include whom. One include root means that a forbidden include still compiles: this test is the rule.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "tests/architecture/source_tree.h"

namespace onelaunch::architecture {
namespace {

using Layers = std::vector<std::string>;

// A layer is a folder; a file belongs to the longest that fits. Each may include itself and what is listed.
const std::map<std::string, Layers>& allowed() {
  static const std::map<std::string, Layers> table = {
      {"base", {}},
      {"tasks", {"base"}},
      {"traces", {"base"}},
      {"sandbox/protocol", {"base"}},
      {"sandbox/emulator", {"base"}},
      {"sandbox/cuda", {"base"}},
      {"sandbox/host", {"sandbox/protocol", "tasks", "base"}},
      {"sandbox/worker", {"sandbox/cuda", "sandbox/emulator", "sandbox/protocol", "tasks", "base"}},
      {"agent/llm", {"base"}},
      {"agent/export", {"sandbox/host", "sandbox/protocol", "tasks", "base"}},
      {"agent/loop", {"sandbox/host", "sandbox/protocol", "tasks", "traces", "base"}},
      {"agent/tuner", {"agent/loop", "sandbox/host", "sandbox/protocol", "base"}},
      {"agent/tools", {"agent/loop", "sandbox/host", "sandbox/protocol", "tasks", "traces", "base"}},
      {"agent/prompts", {"agent/loop", "sandbox/host", "sandbox/protocol", "tasks", "base"}},
      {"agent/model",
       {"agent/llm", "agent/tools", "agent/prompts", "agent/loop", "sandbox/host", "sandbox/protocol", "tasks", "traces", "base"}},
      {"agent/external", {"agent/tools", "agent/prompts", "agent/loop", "sandbox/host", "sandbox/protocol", "tasks", "traces", "base"}},
      {"agent/mcp", {"agent/external", "agent/tools", "base"}},
      {"agent/cli",
       {"agent/export", "agent/external", "agent/llm", "agent/loop", "agent/mcp", "agent/model", "agent/prompts", "agent/tools", "agent/tuner", "sandbox/host", "sandbox/protocol", "tasks", "traces", "base"}},
  };
  return table;
}

std::string layer_of(const std::string& path) {
  std::string best;
  for (const auto& [layer, includes] : allowed())
    if (path.starts_with(layer + "/") && layer.size() > best.size()) best = layer;
  return best;
}

// Empty when the include is fine; else why not.
std::string objection(const std::string& file, const std::string& include) {
  const std::string from = layer_of(file), to = layer_of(include);
  const bool ours =
      include.starts_with("agent/") || include.starts_with("sandbox/") || !to.empty() || include.starts_with("tests/");
  if (!ours || from == to) return "";
  const Layers& may = allowed().at(from);
  if (!to.empty() && std::find(may.begin(), may.end(), to) != may.end()) return "";
  return file + " includes " + include + ": " + from + " may not know " + (to.empty() ? "that" : to);
}

TEST(Layers, FollowTheTable) {
  int checked = 0;
  for (const auto& file : source_files({".h", ".cpp"})) {
    if (file.string().starts_with("tests/")) continue;
    ASSERT_FALSE(layer_of(file.string()).empty()) << file << " is in no layer";
    for (const std::string& include : includes_of(text_of(file))) {
      EXPECT_EQ(objection(file.string(), include), "");
      ++checked;
    }
  }
  EXPECT_GT(checked, 200) << "the test looked at almost nothing";
}

TEST(Layers, ForbiddenIncludesWouldBeSeen) {
  EXPECT_NE(objection("traces/reader.cpp", "sandbox/protocol/outcome.h"), "");
  EXPECT_NE(objection("sandbox/host/chain.cpp", "sandbox/emulator/device.h"), "");
  EXPECT_NE(objection("sandbox/worker/main.cpp", "traces/writer.h"), "");
  EXPECT_NE(objection("agent/loop/session.cpp", "tests/fakes/fake_clock.h"), "");
  EXPECT_EQ(objection("agent/loop/session.cpp", "sandbox/host/sandbox.h"), "");
  EXPECT_EQ(includes_of("  #  include  \"a/b.h\" // x\n#include <c>\nint include;\n"), (Layers{"a/b.h", "c"}));
}

TEST(Layers, OnlyTheWorkerKnowsCuda) {
  for (const auto& file : source_files({".h", ".cpp"})) {
    const std::string path = file.string();
    if (path.starts_with("sandbox/worker/") || path.starts_with("sandbox/cuda/") || path.starts_with("tests/"))
      continue;
    for (const std::string& include : includes_of(text_of(file)))
      for (const char* header : {"cuda.h", "nvrtc.h", "cuda_runtime.h", "cupti.h", "nvml.h"})
        EXPECT_NE(include, header) << path;
  }
}

TEST(Layers, ExpectedIsIncludedInOnePlace) {
  for (const auto& file : source_files({".h", ".cpp"}))
    for (const std::string& include : includes_of(text_of(file)))
      EXPECT_TRUE(include != "tl/expected.hpp" || file == "base/result.h") << file;
}

TEST(Layers, TheKimiTaskIsKnownToItsFolderOnly) {
  for (const auto& file : source_files({".h", ".cpp"})) {
    const std::string path = file.string();
    if (path.starts_with("tests/") || path.starts_with("agent/cli/")) continue;  // examples in help texts
    std::string text = text_of(file);
    std::transform(text.begin(), text.end(), text.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    EXPECT_EQ(text.find("kimi"), std::string::npos) << path;
  }
}

TEST(Files, StayWithinFiveHundredLines) {
  // A kernel is one file by contract.
  for (const auto& file : source_files({".h", ".cpp", ".cuh"})) {
    const std::string text = text_of(file);
    EXPECT_LE(std::count(text.begin(), text.end(), '\n'), 500) << file << " wants to be split by noun";
  }
}

}  // namespace
}  // namespace onelaunch::architecture
