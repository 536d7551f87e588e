// onelaunch export with the real programs.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/files.h"
#include "tests/agent/temporary_folder.h"
#include "tests/e2e/program.h"

namespace onelaunch::e2e {
namespace {

namespace fs = std::filesystem;
constexpr std::size_t kMax = 64u << 20;

struct Export : testing::Test {
  Ended run(const std::vector<std::string>& arguments) const { return onelaunch(arguments, folder.path().string()); }
  std::string path(const std::string& name) const { return (folder.path() / name).string(); }
  std::string content(const std::string& name) const { return read_file(path(name), kMax).value_or(""); }
  std::string seed() const { return std::string(ONELAUNCH_TASKS_FOLDER) + "/rmsnorm_linear/seed.cu"; }
  Ended seed_as(const std::string& format, const std::string& out) const {
    return run({"export", seed(), "--task", "rmsnorm_linear", "--variant", "tiny", "--format", format, "--out", path(out)});
  }
  Ended shell(const std::string& script) const { return Program({"/bin/sh", "-c", script}, folder.path().string()).wait(); }
  // What a session that kept the seed leaves.
  void write_kept(const std::string& name, const std::string& card) const {
    fs::create_directories(path(name));
    fs::copy_file(seed(), path(name) + "/kernel.cu");
    std::ofstream(path(name) + "/card.json") << card;
  }
  TemporaryFolder folder;
};

TEST_F(Export, WritesSourceWithTheHeaderThatItIncludes) {
  const Ended ended = seed_as("source", "out");
  ASSERT_EQ(ended.code, 0) << ended.out;
  EXPECT_EQ(content("out/kernel.cu"), read_file(seed(), kMax).value_or("?"));
  EXPECT_NE(content("out/onelaunch.cuh").find("struct Args"), std::string::npos);
  EXPECT_NE(content("out/README.md").find("nvcc"), std::string::npos);
  const Ended compiled = shell("command -v nvcc >/dev/null || exit 77; cd out && nvcc -std=c++20 --expt-relaxed-constexpr -arch=sm_90a -I. -cubin kernel.cu -o k.cubin");
  if (compiled.code == 77) GTEST_SKIP() << "nvcc is not on the path";
  EXPECT_EQ(compiled.code, 0) << compiled.out;
}

TEST_F(Export, WritesABinaryWithALauncherThatACompilerTakesWithoutWarnings) {
  const Ended ended = seed_as("cubin", "out");
  ASSERT_EQ(ended.code, 0) << ended.out;
  EXPECT_EQ(content("out/kernel.cubin").substr(0, 4), "\x7f" "ELF");
  const Ended made = shell("cd out && make CFLAGS='-O1 -Wall -Wextra -Werror' && ./launcher kernel.cubin -5");
  EXPECT_EQ(made.code, 2) << "a negative number of rows is refused before any driver is looked for: " << made.out;
}

TEST_F(Export, ATaskWithoutATorchModuleSaysSo) {
  const Ended ended = seed_as("torch", "solution.py");
  EXPECT_EQ(ended.code, 2);
  EXPECT_NE(ended.out.find("torch_interface.py"), std::string::npos) << ended.out;
}

TEST_F(Export, WritesOneSolutionFileThatPythonReads) {
  const std::string kimi = std::string(ONELAUNCH_TASKS_FOLDER) + "/kimi_linear_decode/seed.cu";
  const Ended ended = run({"export", kimi, "--task", "kimi_linear_decode", "--variant", "tiny", "--format", "torch", "--out", path("solution.py")});
  ASSERT_EQ(ended.code, 0) << ended.out;
  const std::string text = content("solution.py");
  EXPECT_NE(text.find("class Model("), std::string::npos);
  for (const char* word : {"awq", "marlin", "CUDAGraph", "torch.compile", "import reference", "vllm"})
    EXPECT_EQ(text.find(word), std::string::npos) << "a grader searches solutions for " << word;
  const Ended parsed = shell(
      "command -v python3 >/dev/null || exit 77; python3 -c \"import ast, base64, zlib; tree = ast.parse(open('solution.py').read()); "
      "text = [n.value.value for n in tree.body if isinstance(n, ast.Assign) and getattr(n.targets[0], 'id', '') == '_CUBIN'][0]; "
      "assert zlib.decompress(base64.b32decode(''.join(text.split())))[:4] == b'\\x7fELF'\"");
  if (parsed.code == 77) GTEST_SKIP() << "python3 is not on the path";
  EXPECT_EQ(parsed.code, 0) << parsed.out;
}

TEST_F(Export, TakesAPublishedKernelByItsCard) {
  write_kept("kept", R"({"task":"rmsnorm_linear","variant":"tiny","tunables":{},"task_sha256":"old","device":{"target":"sm_90a"}})");
  const Ended ended = run({"export", path("kept"), "--format", "bundle", "--out", path("bundle.tar.gz")});
  ASSERT_EQ(ended.code, 0) << ended.out;
  EXPECT_NE(ended.out.find("has changed since"), std::string::npos) << ended.out;
  const Ended listed = shell("tar xzf bundle.tar.gz && find bundle -type f | sort | tr '\\n' ' '");
  for (const char* file : {"bundle/source/kernel.cu", "bundle/binary/launcher.c", "bundle/card.json", "bundle/README.md"})
    EXPECT_NE(listed.out.find(file), std::string::npos) << listed.out;
  EXPECT_EQ(content("bundle/source/kernel.cu"), read_file(seed(), kMax).value_or("?"));
}

TEST_F(Export, NothingIsOverwrittenUnlessForced) {
  ASSERT_EQ(seed_as("source", "out").code, 0);
  const Ended again = seed_as("source", "out");
  EXPECT_EQ(again.code, 2);
  EXPECT_NE(again.out.find("--force"), std::string::npos) << again.out;
}

TEST_F(Export, BadInputIsAnsweredWithWhatToDo) {
  const auto refused = [&](const std::vector<std::string>& arguments, const std::string& words) {
    const Ended ended = run(arguments);
    EXPECT_EQ(ended.code, 2) << ended.out;
    EXPECT_NE(ended.out.find(words), std::string::npos) << ended.out;
  };
  refused({"export", path("missing"), "--format", "source"}, "there is no");
  refused({"export", seed(), "--format", "source"}, "--task");
  refused({"export", seed(), "--task", "rmsnorm_linear", "--format", "exe"}, "--format");
  refused({"export", seed(), "--task", "rmsnorm_linear", "--format", "source", "-D", "NOPE=1"}, "NOPE");
  fs::create_directories(path("empty"));
  refused({"export", path("empty"), "--format", "source"}, "no kernel was kept here");
  write_kept("torn", "{\"task\":");
  refused({"export", path("torn"), "--format", "source"}, "no JSON object");
  write_kept("other", R"({"task":"rmsnorm_linear","variant":"tiny"})");
  refused({"export", path("other"), "--task", "llama_block_decode", "--format", "source"}, "not llama_block_decode");
  std::ofstream(path("broken.cu")) << "#include <onelaunch.cuh>\nint x = ;\n";
  refused({"export", path("broken.cu"), "--task", "rmsnorm_linear", "--format", "cubin"}, "refused");
}

}  // namespace
}  // namespace onelaunch::e2e
