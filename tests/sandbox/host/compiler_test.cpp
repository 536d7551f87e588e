#include "sandbox/host/compiler.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "sandbox/host/ptx_scan.h"
#include "tests/sandbox/host/temporary_folder.h"

namespace onelaunch::sandbox {
namespace {

using Status = CompileReply::Status;

class Compiling : public testing::Test {
 protected:
  void SetUp() override {
    auto compiler = Compiler::start(ONELAUNCH_WORKER_PATH, cache_.path, clock_);
    ASSERT_TRUE(compiler) << compiler.error().message;
    compiler_ = std::move(*compiler);
  }
  Compiler::Done done(const std::string& source) {
    CompileJob job;
    job.source = source;
    job.header = "#pragma once\n#include <cuda_bf16.h>\n#define OL_TEST 1\n";
    job.options = {"--gpu-architecture=sm_90a", "--std=c++20"};
    job.limits = limits_;
    auto reply = compiler_->compile(job, Deadline::after(clock_, Seconds(120)), Interrupts::Scope(interrupts_));
    EXPECT_TRUE(reply) << reply.error().message;
    return reply ? std::move(*reply) : Compiler::Done{};
  }
  CompileReply compile(const std::string& source) { return done(source).reply; }

  SystemClock clock_;
  Interrupts interrupts_;
  TemporaryFolder cache_;
  CompileLimits limits_;
  std::unique_ptr<Compiler> compiler_;
};

const std::string kKernel = "extern \"C\" __global__ void megakernel(float* y) { y[threadIdx.x] = 1; }\n";

TEST_F(Compiling, GivesPtxCubinAndResources) {
  const CompileReply reply = compile("#include <onelaunch.cuh>\n__shared__ float shared[64];\n"
                                     "extern \"C\" __global__ void megakernel(float* y) {\n"
                                     "  shared[threadIdx.x] = y[threadIdx.x]; __syncthreads(); y[0] = shared[OL_TEST]; }\n");
  ASSERT_EQ(reply.status, Status::compiled) << reply.log;
  EXPECT_NE(reply.ptx.find(".entry megakernel"), std::string::npos);
  EXPECT_EQ(reply.cubin.substr(1, 3), "ELF");
  ASSERT_EQ(reply.entries.size(), 1u);
  EXPECT_EQ(reply.entries[0].entry, "megakernel");
  EXPECT_GT(reply.entries[0].registers, 0);
  EXPECT_EQ(reply.entries[0].static_smem_bytes, 256u);
  EXPECT_EQ(reply.log.find("ptxas info"), std::string::npos);
}

TEST_F(Compiling, ReportsSpillsAndLocalMemory) {
  const CompileReply reply = compile(
      "extern \"C\" __global__ void __launch_bounds__(1024, 2) megakernel(float* x, int n) {\n"
      "  float v[128];\n  for (int i = 0; i < 128; i++) v[i] = x[i * n];\n"
      "  for (int j = 0; j < n; j++)\n    for (int i = 0; i < 128; i++) v[i] = v[i] * v[(i + 1) & 127] + 1.f;\n"
      "  for (int i = 0; i < 128; i++) x[i] = v[i];\n}\n");
  ASSERT_EQ(reply.status, Status::compiled) << reply.log;
  EXPECT_EQ(reply.entries.at(0).registers, 32);
  EXPECT_GT(reply.entries.at(0).spill_bytes, 0u);
  EXPECT_GT(reply.entries.at(0).local_bytes, 0u);
}

TEST_F(Compiling, NamesTheLineOfAnErrorInTheCandidatesOwnFile) {
  const CompileReply reply = compile("#include <onelaunch.cuh>\n\nint f() { return undefined_name; }\n" + kKernel);
  EXPECT_EQ(reply.status, Status::failed);
  EXPECT_NE(reply.log.find("kernel.cu(3): error"), std::string::npos) << reply.log;
  EXPECT_NE(reply.log.find("undefined_name"), std::string::npos);
}

TEST_F(Compiling, TakesOrdinaryHeadersAndNames) {
  const CompileReply reply = compile(
      "#include <cstdint>\n#include <stdint.h>\n#include <cuda_runtime.h>\n#include <cmath>\n#include <cfloat>\n#include <cstdio>\n"
      "#include <type_traits>\n#include <algorithm>\n#include <cassert>\n#include <cooperative_groups.h>\n#include <mma.h>\n"
      "constexpr int twice(int x) { return 2 * x; }\nconstexpr float table[2] = {1, 2};\n"
      "extern \"C\" __global__ void megakernel(float* y, std::uint32_t n, int64_t m) {\n"
      "  static_assert(std::is_same<float, float>::value && INT_MAX > 0 && UINT32_MAX != 0);\n"
      "  assert(n > 0);\n  float best = -INFINITY;\n  best = std::max(best, std::sqrt(float(twice(3))));\n"
      "  y[0] = best + NAN + FLT_MAX + table[n & 1] + float(m);\n  cooperative_groups::this_grid().sync();\n"
      "  printf(\"%d\\n\", int(n));\n}\n");
  EXPECT_EQ(reply.status, Status::compiled) << reply.log;
  EXPECT_EQ(reply.log, "");
  // And none of what CUDA's headers bring along is taken for the candidate's own.
  for (const PtxFinding& finding : scan_ptx(reply.ptx).findings)
    ADD_FAILURE() << finding.rule << " " << finding.what << " line " << finding.source_line;
}

// A line that no header of CUDA has, planted where the compiler must not read.
class Spying : public Compiling {
 protected:
  void SetUp() override {
    Compiling::SetUp();
    secret_ = folder_.path / "secret.h";
    std::ofstream(secret_) << "root_zzz_secret = 1;\n";
  }
  void expect_nothing_seen(const std::string& source) {
    const CompileReply reply = compile(source + kKernel);
    EXPECT_EQ(reply.log.find("zzz_secret"), std::string::npos) << reply.log;
    EXPECT_EQ(reply.ptx.find("zzz_secret"), std::string::npos);
    EXPECT_EQ(reply.log.find("root:"), std::string::npos) << reply.log;
    EXPECT_EQ(reply.status, Status::failed) << source;
  }
  TemporaryFolder folder_;
  std::filesystem::path secret_;
};

TEST_F(Spying, CannotIncludeAFileOfTheMachine) {
  expect_nothing_seen("#include \"/etc/passwd\"\n");
  expect_nothing_seen("#include \"" + secret_.string() + "\"\n");
  expect_nothing_seen("#include \"../../../../../../../.." + secret_.string() + "\"\n");
  expect_nothing_seen("#include <../../../../../../../../etc/passwd>\n");
}

TEST_F(Spying, CannotHideAnIncludeBehindMacrosAndSplices) {
  expect_nothing_seen("#define S(x) #x\n#define P S(" + secret_.string() + ")\n#include P\n");
  expect_nothing_seen("#inc\\\nlude \"" + secret_.string() + "\"\n");
  expect_nothing_seen("#include_next \"" + secret_.string() + "\"\n");
  expect_nothing_seen("#embed \"" + secret_.string() + "\"\n");
  expect_nothing_seen("#line 1 \"" + secret_.string() + "\"\nint x = y;\n");
  expect_nothing_seen("#include \"/proc/self/environ\"\n");
}

TEST_F(Spying, CannotAskWhetherAFileExists) {
  if (compiler_->containment() == "weak") GTEST_SKIP() << "this machine has neither Landlock nor namespaces";
  const CompileReply reply = compile("#if __has_include(\"/etc/passwd\")\n#error it exists\n#endif\n#if __has_include(\"" +
                                     secret_.string() + "\")\n#error it exists too\n#endif\n" + kKernel);
  EXPECT_EQ(reply.status, Status::compiled) << reply.log;
}

TEST_F(Compiling, StopsAnInfiniteTemplateRecursion) {
  limits_.wall_s = 2;
  const CompileReply reply = compile(
      "template <int N, int M> struct F { static constexpr int value = F<N + 1, M>::value + F<N, M + 1>::value; };\n"
      "extern \"C\" __global__ void megakernel(int* y) { *y = F<0, 0>::value; }\n");
  EXPECT_TRUE(reply.status == Status::timed_out || reply.status == Status::failed || reply.status == Status::out_of_memory)
      << static_cast<int>(reply.status);
  EXPECT_EQ(compile(kKernel).status, Status::compiled);
}

TEST_F(Compiling, StopsACompilationThatTakesTooLong) {
  limits_.wall_s = 1;
  const CompileReply reply = compile(
      "constexpr int spin(int n) { int s = 0; for (int i = 0; i < n; ++i) s += i % 7; return s; }\n"
      "template <int N> struct T { static constexpr int value = spin(4000 + N) + T<N - 1>::value; };\n"
      "template <> struct T<0> { static constexpr int value = 0; };\n"
      "template <int N> struct U { static constexpr int value = T<N % 150>::value + spin(4001 + N % 3) + U<N - 1>::value; };\n"
      "template <> struct U<0> { static constexpr int value = 0; };\n"
      "template <int A, int B> struct V { static constexpr int value = V<A - 1, B * 2>::value + V<A - 1, B * 2 + 1>::value; };\n"
      "template <int B> struct V<0, B> { static constexpr int value = spin(3000 + B % 1000); };\n"
      "extern \"C\" __global__ void megakernel(int* y) { *y = V<22, 1>::value; }\n");
  EXPECT_EQ(reply.status, Status::timed_out) << reply.log;
  limits_ = {};
  EXPECT_EQ(compile(kKernel).status, Status::compiled);
}

TEST_F(Compiling, StopsACompilationThatTakesTooMuchMemory) {
  limits_.memory_bytes = std::uint64_t{700} << 20;
  limits_.wall_s = 60;
  const CompileReply reply = compile(
      "template <int A, int B> struct V { static constexpr int value = V<A - 1, B * 2>::value + V<A - 1, B * 2 + 1>::value; };\n"
      "template <int B> struct V<0, B> { static constexpr int value = B; };\n"
      "extern \"C\" __global__ void megakernel(int* y) { *y = V<22, 1>::value; }\n");
  EXPECT_NE(reply.status, Status::compiled);
  limits_ = {};
  EXPECT_EQ(compile(kKernel).status, Status::compiled);
}

TEST_F(Compiling, CapsTheLog) {
  limits_.log_bytes = 1000;
  std::string source;
  for (int i = 0; i < 90; ++i) source += "int x" + std::to_string(i) + " = undefined_name_" + std::to_string(i) + ";\n";
  const CompileReply reply = compile(source);
  EXPECT_EQ(reply.status, Status::failed);
  EXPECT_LT(reply.log.size(), 1200u);
  EXPECT_NE(reply.log.find("left out"), std::string::npos);
}

TEST_F(Compiling, ComesFromTheCacheTheSecondTime) {
  const auto first = done(kKernel), second = done(kKernel);
  EXPECT_FALSE(first.cached);
  EXPECT_TRUE(second.cached);
  EXPECT_EQ(first.reply.cubin, second.reply.cubin);
  EXPECT_FALSE(done(kKernel + "// changed\n").cached);
}

TEST_F(Compiling, IsRepeatedWhenTheCacheIsDamaged) {
  const auto first = done(kKernel);
  for (const auto& entry : std::filesystem::recursive_directory_iterator(cache_.path))
    if (entry.is_regular_file()) std::filesystem::resize_file(entry.path(), 100);
  const auto second = done(kKernel);
  EXPECT_FALSE(second.cached);
  EXPECT_EQ(second.reply.status, Status::compiled);
}

TEST_F(Compiling, GoesOnWithoutACacheThatCannotBeWritten) {
  std::ofstream(cache_.path / "compiled") << "a file in the way";
  EXPECT_EQ(compile(kKernel).status, Status::compiled);
}

}  // namespace
}  // namespace onelaunch::sandbox
