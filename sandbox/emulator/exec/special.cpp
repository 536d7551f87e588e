// Special registers, by number in one table.
#include <array>
#include <string>

#include "sandbox/emulator/exec/block.h"
#include "sandbox/emulator/exec/clock.h"
#include "sandbox/emulator/exec/cluster.h"
#include "sandbox/emulator/exec/grid.h"
#include "sandbox/emulator/exec/warp.h"

namespace onelaunch::emu {
namespace {

constexpr double kNanosecondsACycle = 1 / 1.98;

struct Thread {
  const Warp& warp;
  std::uint32_t lane;
};
using Read = std::uint64_t (*)(const Thread&);

std::uint64_t zero(const Thread&) { return 0; }
std::uint64_t one(const Thread&) { return 1; }
std::uint64_t thread_index(const Thread& t) { return t.warp.index * 32 + t.lane; }
std::uint64_t block_threads(const Thread& t) { return t.warp.block->threads; }
std::uint64_t block_index(const Thread& t) { return t.warp.block->index; }
std::uint64_t grid_blocks(const Thread& t) { return t.warp.grid->shape.grid; }
std::uint64_t lane_index(const Thread& t) { return t.lane; }
std::uint64_t warp_index(const Thread& t) { return t.warp.index; }
std::uint64_t block_warps(const Thread& t) { return (t.warp.block->threads + 31) / 32; }
std::uint64_t sm_index(const Thread& t) { return t.warp.block->index % static_cast<std::uint32_t>(t.warp.grid->sms); }
std::uint64_t sm_count(const Thread& t) { return static_cast<std::uint64_t>(t.warp.grid->sms); }
std::uint64_t cluster_rank(const Thread& t) { return rank_in_cluster(*t.warp.block); }
std::uint64_t cluster_size(const Thread& t) { return t.warp.grid->shape.cluster; }
std::uint64_t cluster_index(const Thread& t) { return t.warp.block->index / t.warp.grid->shape.cluster; }
std::uint64_t cluster_count(const Thread& t) { return t.warp.grid->shape.grid / t.warp.grid->shape.cluster; }
std::uint64_t has_clusters(const Thread& t) { return t.warp.grid->shape.cluster > 1; }
std::uint64_t lanes_equal(const Thread& t) { return 1u << t.lane; }
std::uint64_t lanes_below(const Thread& t) { return (1u << t.lane) - 1; }
std::uint64_t lanes_up_to(const Thread& t) { return lanes_below(t) | 1u << t.lane; }
std::uint64_t lanes_from(const Thread& t) { return ~std::uint32_t(lanes_below(t)); }
std::uint64_t lanes_above(const Thread& t) { return ~std::uint32_t(lanes_up_to(t)); }
std::uint64_t workspace_low(const Thread& t) { return t.warp.grid->workspace & 0xffffffffu; }
std::uint64_t workspace_high(const Thread& t) { return t.warp.grid->workspace >> 32; }
std::uint64_t dynamic_shared(const Thread& t) { return t.warp.grid->shape.dynamic_shared_bytes; }
std::uint64_t total_shared(const Thread& t) { return t.warp.block->shared_end - kSharedStart; }

// Virtual time: what the block has executed, and what passed while nothing could run.
std::uint64_t cycles(const Thread& t) {
  if (t.warp.polls) t.warp.polls->timer = true;
  ++t.warp.grid->timer_reads;
  return t.warp.block->instructions + static_cast<std::uint64_t>(static_cast<double>(t.warp.grid->skipped_ns) / kNanosecondsACycle);
}
std::uint64_t cycles_low(const Thread& t) { return cycles(t) & 0xffffffffu; }
std::uint64_t cycles_high(const Thread& t) { return cycles(t) >> 32; }
std::uint64_t nanoseconds(const Thread& t) {
  if (t.warp.polls) t.warp.polls->timer = true;
  ++t.warp.grid->timer_reads;
  return modelled_ns(t.warp);
}
std::uint64_t nanoseconds_low(const Thread& t) { return nanoseconds(t) & 0xffffffffu; }
std::uint64_t nanoseconds_high(const Thread& t) { return nanoseconds(t) >> 32; }

struct Special {
  std::string_view name;
  Read read;
};

constexpr std::array kSpecials = std::to_array<Special>({
    {"%tid.x", thread_index},         {"%tid.y", zero},                  {"%tid.z", zero},
    {"%ntid.x", block_threads},       {"%ntid.y", one},                  {"%ntid.z", one},
    {"%ctaid.x", block_index},        {"%ctaid.y", zero},                {"%ctaid.z", zero},
    {"%nctaid.x", grid_blocks},       {"%nctaid.y", one},                {"%nctaid.z", one},
    {"%laneid", lane_index},          {"%warpid", warp_index},           {"%nwarpid", block_warps},
    {"%smid", sm_index},              {"%nsmid", sm_count},              {"%gridid", one},
    {"%lanemask_eq", lanes_equal},    {"%lanemask_lt", lanes_below},     {"%lanemask_le", lanes_up_to},
    {"%lanemask_ge", lanes_from},     {"%lanemask_gt", lanes_above},     {"%envreg0", zero},
    {"%envreg1", workspace_high},     {"%envreg2", workspace_low},       {"%dynamic_smem_size", dynamic_shared},
    {"%total_smem_size", total_shared}, {"%clock", cycles_low},          {"%clock_hi", cycles_high},
    {"%clock64", cycles},             {"%globaltimer", nanoseconds},     {"%globaltimer_lo", nanoseconds_low},
    {"%globaltimer_hi", nanoseconds_high}, {"%is_explicit_cluster", has_clusters}, {"%clusterid.x", cluster_index},
    {"%clusterid.y", zero},           {"%clusterid.z", zero},            {"%nclusterid.x", cluster_count},
    {"%nclusterid.y", one},           {"%nclusterid.z", one},            {"%cluster_ctaid.x", cluster_rank},
    {"%cluster_ctaid.y", zero},       {"%cluster_ctaid.z", zero},        {"%cluster_nctaid.x", cluster_size},
    {"%cluster_nctaid.y", one},       {"%cluster_nctaid.z", one},        {"%cluster_ctarank", cluster_rank},
    {"%cluster_nctarank", cluster_size},
});

}  // namespace

std::uint64_t special_register(const Warp& warp, std::uint32_t which, std::uint32_t lane) {
  return kSpecials[which].read({warp, lane});
}

Result<std::uint32_t> special_register_number(std::string_view name) {
  for (std::uint32_t i = 0; i < kSpecials.size(); ++i)
    if (kSpecials[i].name == name) return i;
  return invalid("special register " + std::string(name) + " is not implemented");
}

}  // namespace onelaunch::emu
