#include "sandbox/emulator/model/profile.h"

#include <algorithm>
#include <array>
#include <cstdlib>

namespace onelaunch::emu {
namespace {

constexpr std::size_t operator""_kib(unsigned long long n) { return n << 10; }
constexpr std::size_t operator""_mib(unsigned long long n) { return n << 20; }

struct Card {
  int capability;
  const char* name;
  int sms, threads_per_sm, blocks_per_sm;
  std::size_t shared_per_sm, l1_bytes, l2_bytes;
  double clock_ghz, dram_tb_s;  // boost clock, bandwidth
};

constexpr std::array kCards = {
    Card{80, "A100", 108, 2048, 32, 164_kib, 192_kib, 40_mib, 1.41, 1.94},
    Card{86, "RTX 3090", 82, 1536, 16, 100_kib, 128_kib, 6_mib, 1.70, 0.936},
    Card{89, "RTX 4090", 128, 1536, 24, 100_kib, 128_kib, 72_mib, 2.52, 1.008},
    Card{100, "B200", 148, 2048, 32, 228_kib, 256_kib, 126_mib, 1.85, 8.0},
    Card{120, "RTX PRO 6000 Blackwell", 188, 1536, 24, 100_kib, 128_kib, 128_mib, 2.60, 1.792},
};
constexpr int kClustersFrom = 90, kSmsOfAGroup = 16;

// Nothing public says how the SMs of these cards are grouped: groups that all have at least so many.
std::vector<int> groups_of(const Card& card) {
  if (card.capability < kClustersFrom) return {};
  return std::vector<int>(static_cast<std::size_t>(card.sms / kSmsOfAGroup), kSmsOfAGroup);
}

}  // namespace

DeviceProfile h200_profile() {
  DeviceProfile profile;
  profile.name = "H200";
  profile.target = "sm_90a";
  return profile;
}

DeviceProfile profile_of_target(const std::string& target) {
  DeviceProfile profile = h200_profile();
  if (!target.empty()) profile.target = target;
  const int capability = target.starts_with("sm_") ? std::atoi(target.c_str() + 3) : 0;
  const auto card = std::ranges::find(kCards, capability, &Card::capability);
  if (card == kCards.end()) return profile;
  profile.name = card->name;
  profile.measured = false;
  profile.sms = card->sms;
  profile.gpc_sms = groups_of(*card);
  profile.threads_per_sm = card->threads_per_sm;
  profile.blocks_per_sm = card->blocks_per_sm;
  profile.shared_per_sm = card->shared_per_sm;
  profile.shared_per_block = card->shared_per_sm - profile.shared_reserved_per_block;
  profile.clock_ghz = card->clock_ghz;
  profile.dram_tb_s = card->dram_tb_s;
  profile.l1_bytes = card->l1_bytes;
  profile.l2_bytes = card->l2_bytes;
  return profile;
}

}  // namespace onelaunch::emu
