// The candidate header and the seeds under the real NVRTC.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>

#include "base/files.h"
#include "tests/tasks/minimal_task.h"
#include "tests/tasks/nvrtc_candidate.h"
#include "tests/tasks/tunables.h"

namespace onelaunch::tasks {
namespace {

using ::testing::HasSubstr;

class CandidateHeaderUnderNvrtc : public ::testing::Test {
 protected:
  void SetUp() override {
    Result<worker::Nvrtc> loaded = worker::Nvrtc::load();
    if (!loaded) GTEST_SKIP() << "no NVRTC here: " << loaded.error().message;
    nvrtc_ = *std::move(loaded);
  }

  CompiledCandidate compile(const Task& task, const std::string& source, const std::string& target,
                            std::vector<std::string> defines = {}) {
    return compile_candidate(nvrtc_, task, source, target, std::move(defines));
  }

  void expect_layout(const Task& task, const std::string& type, const ArgsLayout& layout);

  worker::Nvrtc nvrtc_;
};

const char* const kEmptyKernel = R"(
#include <onelaunch.cuh>
OL_TUNABLE(BLOCK, 128, 64, 128)
OL_LAUNCH(.block = BLOCK, .grid = ol::per_sm(2), .dynamic_smem = ol::dim::hidden * 4, .sync_bytes = ol::kBarrierBytes, .scratch_bytes = 1024)
OL_PREPARE(first, .grid = 3, .block = 64);
OL_PREPARE(second, .grid = ol::per_sm(1));
extern "C" __global__ void first(const __grid_constant__ ol::PrepareArgs args) { args.prepared[0] = args.layer[0].up.packed[0]; }
extern "C" __global__ void second(const __grid_constant__ ol::PrepareArgs args) { args.prepared[1] = 1; }
extern "C" __global__ void megakernel(const __grid_constant__ ol::Args args) {
  OL_PHASE("x");
  const uint4 words = ol::load_stream(args.layer[1].up.packed);
  ol::grid_barrier(args);
  args.y[0] = __float2bfloat16(float(words.x) + INFINITY);
}
)";

// "b8 name[64] = {1, 2}" as 64-bit words.
std::vector<std::uint64_t> words_of(const std::string& ptx, const std::string& name, std::size_t count) {
  std::smatch found;
  if (!std::regex_search(ptx, found, std::regex(name + R"(\[\d+\] = \{([^}]*)\})"))) return {};
  std::vector<std::uint64_t> words(count);
  const std::string list = found[1];
  std::size_t at = 0;
  const std::regex number(R"(\d+)");
  for (std::sregex_iterator byte(list.begin(), list.end(), number), end; byte != end; ++byte, ++at)
    words.at(at / 8) |= std::stoull(byte->str()) << (at % 8 * 8);
  return words;
}

TEST_F(CandidateHeaderUnderNvrtc, CompilesForEveryTarget) {
  const Task task = parsed(minimal_task());
  for (const char* target : {"sm_80", "sm_89", "sm_90a", "sm_100a", "sm_120a"}) {
    const CompiledCandidate compiled = compile(task, kEmptyKernel, target, {"-DBLOCK=192"});
    EXPECT_TRUE(compiled.ok) << target << ": " << compiled.log;
    EXPECT_THAT(compiled.ptx, HasSubstr("ld.global.nc.L1::no_allocate.L2::cache_hint.v4.u32"));
  }
}

TEST_F(CandidateHeaderUnderNvrtc, KeepsDeclarationsInTheModule) {
  const CompiledCandidate compiled = compile(parsed(minimal_task()), kEmptyKernel, "sm_90a", {"-DBLOCK=192"});
  ASSERT_TRUE(compiled.ok) << compiled.log;
  EXPECT_THAT(words_of(compiled.ptx, "ol_launch", 8),
              ::testing::ElementsAre(192, (1ull << 32) | 2, 1024, 1, 256, 1024, 0, 0));
  const auto first = words_of(compiled.ptx, "ol_prepare_first", 4),
             second = words_of(compiled.ptx, "ol_prepare_second", 4);
  ASSERT_EQ(first.size(), 4u);
  ASSERT_EQ(second.size(), 4u);
  EXPECT_LT(first[0], second[0]);
  EXPECT_THAT(std::vector(first.begin() + 1, first.end()), ::testing::ElementsAre(64, 3, 0));
  EXPECT_THAT(std::vector(second.begin() + 1, second.end()), ::testing::ElementsAre(256, (1ull << 32) | 1, 0));
}

// "layer.1.up.packed" is layer[1].up.packed.
std::string member_path(const std::string& name) { return std::regex_replace(name, std::regex(R"(\.(\d+))"), "[$1]"); }

struct Member {
  std::string path;
  std::size_t offset;
};

std::vector<Member> members_of(const ArgsLayout& layout) {
  std::vector<Member> members;
  for (const auto& [name, offset] : layout.pointers) members.push_back({member_path(name), offset});
  const Member own[] = {{"position", layout.position}, {"cache_capacity", layout.cache_capacity},
                        {"epoch", layout.epoch},       {"prepared", layout.prepared},
                        {"sync", layout.sync},         {"scratch", layout.scratch}};
  for (const Member& member : own)
    if (member.offset != ArgsLayout::npos) members.push_back(member);
  return members;
}

// NVRTC has no offsetof(). The addresses of a variable's members appear in the PTX as "generic(probe)+16".
std::string address_table(const std::vector<Member>& members, const std::string& type) {
  std::string text = "#include <onelaunch.cuh>\n__device__ ol::" + type +
                     " probe;\n"
                     "extern \"C\" __attribute__((used)) __device__ const void* const addresses[] = {";
  for (const Member& member : members) text += "&probe." + member.path + ", ";
  return text + "};\nextern \"C\" __global__ void megakernel(const __grid_constant__ ol::Args args) {}\n";
}

std::vector<std::size_t> offsets_in(const std::string& ptx) {
  std::smatch table;
  if (!std::regex_search(ptx, table, std::regex(R"(addresses\[\d+\] = \{([^}]*)\})"))) return {};
  const std::string list = table[1];
  const std::regex address(R"(generic\(\w+\)(\+(\d+))?)");
  std::vector<std::size_t> offsets;
  for (std::sregex_iterator found(list.begin(), list.end(), address), end; found != end; ++found)
    offsets.push_back((*found)[2].matched ? std::stoull((*found)[2].str()) : 0);
  return offsets;
}

Task library_task(const std::string& name, const std::string& variant) {
  const std::string file = std::string(ONELAUNCH_LIBRARY) + "/" + name + "/task.json";
  return *parse_task(*read_file(file, 1 << 20), file, variant);
}

void CandidateHeaderUnderNvrtc::expect_layout(const Task& task, const std::string& type, const ArgsLayout& layout) {
  const std::vector<Member> members = members_of(layout);
  const CompiledCandidate compiled = compile(task, address_table(members, type), "sm_90a");
  ASSERT_TRUE(compiled.ok) << task.name << ": " << compiled.log;
  EXPECT_THAT(compiled.ptx, HasSubstr("probe[" + std::to_string(layout.bytes) + "]"));
  const std::vector<std::size_t> offsets = offsets_in(compiled.ptx);
  ASSERT_EQ(offsets.size(), members.size());
  for (std::size_t i = 0; i < members.size(); ++i) EXPECT_EQ(offsets[i], members[i].offset) << members[i].path;
}

TEST_F(CandidateHeaderUnderNvrtc, LaysOutArgsAsTheHarnessWritesThem) {
  for (const Task& task :
       {parsed(minimal_task()), library_task("kimi_linear_decode", ""), library_task("llama_block_decode", "")}) {
    expect_layout(task, "Args", args_layout(task));
    expect_layout(task, "PrepareArgs", prepare_args_layout(task));
  }
}

TEST_F(CandidateHeaderUnderNvrtc, CompilesEverySeedAtEverySize) {
  for (const char* name : {"rmsnorm_linear", "llama_block_decode", "kimi_linear_decode"})
    for (const char* variant : {"full", "tiny"}) {
      const Result<std::string> source = read_file(std::string(ONELAUNCH_LIBRARY) + "/" + name + "/seed.cu", 1 << 20);
      ASSERT_TRUE(source);
      const std::vector<std::string> defines = defines_of(tunables_of(*source), {});
      EXPECT_GE(defines.size(), 3u) << name;
      const CompiledCandidate compiled = compile(library_task(name, variant), *source, "sm_90a", defines);
      EXPECT_TRUE(compiled.ok) << name << " " << variant << ": " << compiled.log;
    }
}

}  // namespace
}  // namespace onelaunch::tasks
