#include "sandbox/emulator/check/facts.h"

#include <gtest/gtest.h>

namespace onelaunch::emu {
namespace {

using Kind = OpFacts::Kind;

TEST(Facts, TellOrderAndScopeFromTheOpcode) {
  EXPECT_FALSE(facts_of("ld.global.u32").strong);
  EXPECT_TRUE(facts_of("ld.volatile.global.u32").strong);
  EXPECT_TRUE(facts_of("ld.acquire.gpu.u32").acquires);
  EXPECT_TRUE(facts_of("ld.acquire.cta.u32").within_block);
  EXPECT_TRUE(facts_of("st.release.gpu.u32").releases);
  EXPECT_TRUE(facts_of("atom.add.acq_rel.gpu.u32").releases);
  EXPECT_TRUE(facts_of("atom.add.acq_rel.gpu.u32").acquires);
  EXPECT_FALSE(facts_of("atom.add.u32").releases);
  EXPECT_TRUE(facts_of("ld.global.nc.v4.u32").incoherent);
  EXPECT_TRUE(facts_of("mbarrier.arrive.shared.b64").releases);
  EXPECT_FALSE(facts_of("mbarrier.arrive.relaxed.cta.shared.b64").releases);
}

TEST(Facts, TellWhatAnInstructionDoes) {
  EXPECT_EQ(facts_of("fence.acq_rel.gpu").kind, Kind::fence);
  EXPECT_EQ(facts_of("fence.proxy.async.shared::cta").kind, Kind::proxy_fence);
  EXPECT_EQ(facts_of("fence.mbarrier_init.release.cluster").kind, Kind::none);
  EXPECT_EQ(facts_of("cp.async.ca.shared.global").kind, Kind::small_copy);
  EXPECT_EQ(facts_of("cp.async.mbarrier.arrive.noinc.shared.b64").kind, Kind::small_arrive);
  EXPECT_EQ(facts_of("cp.async.bulk.global.shared::cta.bulk_group").kind, Kind::bulk_copy);
  EXPECT_EQ(facts_of("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32").kind, Kind::bulk_copy);
  EXPECT_EQ(facts_of("cp.async.bulk.wait_group.read").kind, Kind::bulk_wait);
  EXPECT_TRUE(facts_of("cp.async.bulk.wait_group.read").reads_only);
  EXPECT_EQ(facts_of("cp.async.bulk.prefetch.L2.global").kind, Kind::none);
  EXPECT_EQ(facts_of("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b32").kind, Kind::async_store);
  EXPECT_EQ(facts_of("mbarrier.try_wait.parity.shared::cta.b64").kind, Kind::barrier_wait);
  EXPECT_EQ(facts_of("mbarrier.expect_tx.shared::cta.b64").kind, Kind::none);
  EXPECT_EQ(facts_of("add.s32").kind, Kind::none);
}

}  // namespace
}  // namespace onelaunch::emu
