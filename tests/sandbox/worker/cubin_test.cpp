#include "sandbox/worker/cubin.h"

#include <gtest/gtest.h>

#include <string>

namespace onelaunch::worker {
namespace {

using sandbox::EntryResources;

TEST(Cubin, RefusesWhatIsNoElfFile) {
  EXPECT_FALSE(cubin_resources(""));
  EXPECT_FALSE(cubin_resources(std::string(1000, 'x')));
}

TEST(Cubin, RefusesAnElfFileThatIsCutOff) {
  std::string elf(64, '\0');
  elf.replace(0, 5, "\x7f"
                    "ELF\x02");
  elf[60] = 3;  // sections, which lie beyond the end
  elf[40] = 64;
  EXPECT_FALSE(cubin_resources(elf));
}

const std::string kLog =
    "kernel.cu(3): warning: unused\n"
    "ptxas info    : 16 bytes gmem\n"
    "ptxas info    : Compiling entry function 'megakernel' for 'sm_90a'\n"
    "ptxas info    : Function properties for megakernel\n"
    "ptxas         .     408 bytes stack frame, 1028 bytes spill stores, 1032 bytes spill loads\n"
    "ptxas info    : Used 32 registers, used 1 barriers, 408 bytes cumulative stack size, 256 bytes smem\n"
    "ptxas info    : Compile time = 42.498 ms\n";

TEST(PtxasReport, GivesSpillsAndSharedMemoryAndLeavesTheLog) {
  std::vector<EntryResources> entries{{"megakernel", 32, 1280, 408, 0}};
  EXPECT_EQ(take_ptxas_report(kLog, entries), "kernel.cu(3): warning: unused\n");
  EXPECT_EQ(entries[0].spill_bytes, 2060u);
  EXPECT_EQ(entries[0].static_smem_bytes, 256u);
}

TEST(PtxasReport, BelievesTheLastReportSoThatASourceCannotForgeOne) {
  const std::string forged =
      "ptxas info    : Function properties for megakernel\n"
      "ptxas         .     0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
      "ptxas info    : Used 1 registers, 1 bytes smem\n";
  std::vector<EntryResources> entries{{"megakernel", 32, 1280, 408, 0}};
  take_ptxas_report(forged + kLog, entries);
  EXPECT_EQ(entries[0].spill_bytes, 2060u);
  EXPECT_EQ(entries[0].registers, 32);
}

TEST(PtxasReport, KeepsWarningsAndErrorsInTheLog) {
  std::vector<EntryResources> entries;
  EXPECT_EQ(take_ptxas_report("ptxas error   : Unknown symbol 'f'\n", entries), "ptxas error   : Unknown symbol 'f'\n");
}

}  // namespace
}  // namespace onelaunch::worker
