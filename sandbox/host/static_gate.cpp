#include "sandbox/host/static_gate.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <optional>

#include "sandbox/host/ptx_scan.h"

namespace onelaunch::sandbox {
namespace {

constexpr std::uint64_t kRegisterUnit = 256;      // registers are given to a warp in such units
constexpr std::uint64_t kSubPartitions = 4;       // of an SM; each holds its own warps and registers
constexpr std::uint64_t kSharedUnit = 128;
constexpr std::uint64_t kPreparedFloor = 64 << 20;
constexpr std::uint64_t kPreparedCeiling = std::uint64_t{3} << 29;
constexpr std::uint64_t kGridMax = 0x7fffffff;
constexpr std::uint64_t kClusterMax = 16;         // more than 8 are not portable: few cards take them
constexpr int kFirstWithClusters = 90;            // compute capability 9.0
const std::string kEntry = "megakernel";

std::string text(std::uint64_t number) { return std::to_string(number); }
std::uint64_t round_up(std::uint64_t value, std::uint64_t unit) { return (value + unit - 1) / unit * unit; }

std::string joined(const std::vector<std::string>& words) {
  std::string all;
  for (const std::string& word : words) {
    if (!all.empty()) all += ", ";
    all += word;
  }
  return all.empty() ? "none" : all;
}

bool contains(const std::vector<std::string>& words, const std::string& word) {
  return std::ranges::find(words, word) != words.end();
}

// The words of a declaration, or nothing when the module lacks it or it has another length.
std::optional<std::vector<std::uint64_t>> words(const PtxFacts& facts, const std::string& name, std::size_t count) {
  const auto found = facts.constants.find(name);
  if (found == facts.constants.end() || found->second.size() != count) return std::nullopt;
  return found->second;
}

std::optional<LaunchDeclaration> read_launch(const PtxFacts& facts) {
  const auto w = words(facts, "ol_launch", 8);
  if (!w) return std::nullopt;
  LaunchDeclaration launch{(*w)[0], (*w)[1], (*w)[2], (*w)[3], (*w)[4], (*w)[5], (*w)[6], (*w)[7]};
  if (launch.cluster == 0) launch.cluster = 1;  // left out
  return launch;
}

std::vector<PrepareDeclaration> read_prepares(const PtxFacts& facts) {
  const std::string prefix = "ol_prepare_";
  std::vector<PrepareDeclaration> prepares;
  for (const auto& [name, value] : facts.constants)
    if (name.starts_with(prefix) && value.size() == 4)
      prepares.push_back({name.substr(prefix.size()), value[0], value[1], value[2], value[3]});
  std::ranges::sort(prepares, {}, &PrepareDeclaration::order);
  return prepares;
}

const EntryResources* resources_of(const CompileReply& compiled, const std::string& entry) {
  const auto found = std::ranges::find(compiled.entries, entry, &EntryResources::entry);
  return found == compiled.entries.end() ? nullptr : &*found;
}

// What one kernel asks for, as declared and compiled.
struct Demand {
  std::string who;                       // "megakernel", "prepare kernel repack"
  std::uint64_t block, grid, dynamic_smem;
  EntryResources compiled;
  std::uint64_t threads_max = 0;         // by __launch_bounds__; 0 none
};

std::optional<Refused> check_block(const Demand& demand, const DeviceFacts& device) {
  const auto limit = static_cast<std::uint64_t>(device.threads_per_block);
  if (demand.block == 0 || demand.block > limit)
    return Refused{"block", demand.who + " is declared with .block = " + text(demand.block) + "; a block has 1 to " +
                                text(limit) + " threads"};
  if (demand.threads_max != 0 && demand.block > demand.threads_max)
    return Refused{"block", demand.who + " is declared with .block = " + text(demand.block) + " but compiled for at most " +
                                text(demand.threads_max) + " threads (__launch_bounds__)"};
  return std::nullopt;
}

std::optional<Refused> check_shared(const Demand& demand, const DeviceFacts& device) {
  const std::uint64_t fixed = demand.compiled.static_smem_bytes;
  if (demand.dynamic_smem <= device.shared_per_block && fixed + demand.dynamic_smem <= device.shared_per_block)
    return std::nullopt;
  return Refused{"shared_memory", demand.who + " needs " + text(fixed + demand.dynamic_smem) +
                                      " bytes of shared memory a block (" + text(fixed) + " static + " +
                                      text(demand.dynamic_smem) + " dynamic); " + device.target + " has " +
                                      text(device.shared_per_block)};
}

std::optional<Refused> check_registers(const Demand& demand, const DeviceFacts& device) {
  const auto registers = static_cast<std::uint64_t>(demand.compiled.registers);
  if (residency(device, demand.block, demand.compiled.registers, 0).blocks_per_sm > 0) return std::nullopt;
  return Refused{"registers", demand.who + " needs " + text(registers) + " registers x " + text(demand.block) +
                                  " threads = " + text(registers * demand.block) + " registers a block; an SM has " +
                                  text(static_cast<std::uint64_t>(device.registers_per_sm)) +
                                  ": use fewer threads, or bound the registers with __launch_bounds__(" +
                                  text(demand.block) + ")"};
}

std::optional<Refused> check_demand(const Demand& demand, const DeviceFacts& device) {
  if (auto refused = check_block(demand, device)) return refused;
  if (auto refused = check_shared(demand, device)) return refused;
  return check_registers(demand, device);
}

// A cooperative grid waits for all its blocks, so all must fit on the device at once.
std::optional<Refused> check_grid(const Demand& demand, const DeviceFacts& device) {
  const Residency fits = residency(device, demand.block, demand.compiled.registers,
                                   demand.compiled.static_smem_bytes + demand.dynamic_smem);
  const std::uint64_t most = fits.blocks_per_sm * static_cast<std::uint64_t>(device.sms);
  const std::uint64_t wanted = grid_blocks(demand.grid, device);
  if (wanted >= 1 && wanted <= most) return std::nullopt;
  return Refused{"grid", "the grid of " + text(wanted) + " blocks must be resident at once, which 1 to " + text(most) +
                             " are: " + text(fits.blocks_per_sm) + " on each of " +
                             text(static_cast<std::uint64_t>(device.sms)) + " SMs, limited by " + fits.bound};
}

std::optional<Refused> check_bytes(const LaunchDeclaration& launch, const GateLimits& limits) {
  struct Row { const char* name; std::uint64_t value, limit; };
  for (const Row& row : {Row{"sync_bytes", launch.sync_bytes, limits.sync_bytes},
                         Row{"scratch_bytes", launch.scratch_bytes, limits.scratch_bytes},
                         Row{"prepared_bytes", launch.prepared_bytes, limits.prepared_bytes}})
    if (row.value > row.limit)
      return Refused{row.name, std::string(".") + row.name + " = " + text(row.value) + " is over the limit of " + text(row.limit)};
  return std::nullopt;
}

// "sm_90a" -> 90; 0 when it is no such name.
int architecture(const std::string& target) { return target.starts_with("sm_") ? std::atoi(target.c_str() + 3) : 0; }

// Whether all clusters can be on the device at once hangs on how its SMs are grouped: that is asked before the launch.
std::optional<Refused> check_cluster(const LaunchDeclaration& launch, const DeviceFacts& device) {
  if (launch.cluster == 1) return std::nullopt;
  const std::string declared = ".cluster = " + text(launch.cluster);
  if (architecture(device.target) < kFirstWithClusters)
    return Refused{"cluster", declared + ", but " + device.target + " has no clusters of blocks; leave it out"};
  if (launch.cluster > kClusterMax || !std::has_single_bit(launch.cluster))
    return Refused{"cluster", declared + "; a cluster has 1, 2, 4, 8 or " + text(kClusterMax) + " blocks"};
  const std::uint64_t blocks = grid_blocks(launch.grid, device);
  if (blocks % launch.cluster == 0) return std::nullopt;
  return Refused{"cluster", declared + " does not divide the grid of " + text(blocks) + " blocks"};
}

// What the headers of profile and probe builds add to a module (tasks/device).
bool is_ours(const std::string& name) {
  return name == "ol_profile_attach" || name == "ol_profile_attached" || name == "ol_probe_attach" || name == "ol_probe_attached";
}

std::optional<Refused> check_entries(const PtxFacts& facts, const std::vector<PrepareDeclaration>& prepares, bool marked) {
  if (!contains(facts.entries, kEntry))
    return Refused{"entry", "the source defines no kernel of the name megakernel (it defines: " + joined(facts.entries) +
                                "); write extern \"C\" __global__ void megakernel(const __grid_constant__ ol::Args args)"};
  for (const std::string& entry : facts.entries)
    if (entry != kEntry && !(marked && is_ours(entry)) && std::ranges::find(prepares, entry, &PrepareDeclaration::name) == prepares.end())
      return Refused{"entry", "the kernel " + entry + " is neither megakernel nor declared with OL_PREPARE(" + entry + ", ...)"};
  for (const PrepareDeclaration& prepare : prepares)
    if (!contains(facts.entries, prepare.name))
      return Refused{"entry", "OL_PREPARE names " + prepare.name +
                                  ", but the source defines no such kernel; write extern \"C\" __global__ void " +
                                  prepare.name + "(const __grid_constant__ ol::PrepareArgs args)"};
  return std::nullopt;
}

// Kernels take one argument, the struct of the header, and nothing else.
std::optional<Refused> check_parameters(const PtxFacts& facts, const std::vector<PrepareDeclaration>& prepares,
                                        const GateLimits& limits) {
  const auto check = [&](const std::string& entry, const char* type, std::uint64_t wanted) -> std::optional<Refused> {
    const auto found = facts.parameter_bytes.find(entry);
    if (wanted == 0 || found == facts.parameter_bytes.end() || found->second == wanted) return std::nullopt;
    return Refused{"parameters", entry + " takes " + text(found->second) + " bytes of parameters; " + type + " has " +
                                     text(wanted) + ": write " + entry + "(const __grid_constant__ " + type + " args)"};
  };
  if (auto refused = check(kEntry, "ol::Args", limits.args_bytes)) return refused;
  for (const PrepareDeclaration& prepare : prepares)
    if (auto refused = check(prepare.name, "ol::PrepareArgs", limits.prepare_args_bytes)) return refused;
  return std::nullopt;
}

std::string why_forbidden(const PtxFinding& finding) {
  if (finding.rule == "mutable_global")
    return "the global variable " + finding.what + " is written; what a kernel keeps between launches belongs in the states "
           "and in args.sync, constant tables in __constant__ or const variables";
  if (finding.rule == "special_register") return "reads " + finding.what + "; clocks and grid ids are not for candidates";
  if (finding.rule == "undefined_function") return "calls " + finding.what + ", which does not exist on the device";
  return "uses " + finding.what + ", which candidates may not";
}

std::optional<Refused> check_findings(const PtxFacts& facts, bool marked) {
  const auto forbidden = [&](const PtxFinding& finding) {
    return !marked || !(is_ours(finding.what) || finding.what.starts_with("%globaltimer"));
  };
  const auto found = std::ranges::find_if(facts.findings, forbidden);
  if (found == facts.findings.end()) return std::nullopt;
  const PtxFinding& first = *found;
  const std::string place = first.source_line > 0 ? " (near kernel.cu:" + std::to_string(first.source_line) + ")" : "";
  return Refused{first.rule, why_forbidden(first) + place};
}

Demand demand_of(const std::string& entry, const PtxFacts& facts, const CompileReply& compiled) {
  Demand demand{entry, 0, 0, 0, {}, 0};
  if (const EntryResources* resources = resources_of(compiled, entry)) demand.compiled = *resources;
  if (const auto bound = facts.threads_max.find(entry); bound != facts.threads_max.end()) demand.threads_max = bound->second;
  return demand;
}

std::optional<Refused> check_prepare(const PrepareDeclaration& prepare, const PtxFacts& facts,
                                     const CompileReply& compiled, const DeviceFacts& device) {
  Demand demand = demand_of(prepare.name, facts, compiled);
  demand.who = "the prepare kernel " + prepare.name;
  demand.block = prepare.block;
  demand.grid = prepare.grid;
  demand.dynamic_smem = prepare.dynamic_smem;
  const std::uint64_t blocks = grid_blocks(prepare.grid, device);
  if (blocks == 0 || blocks > kGridMax)
    return Refused{"grid", demand.who + " is declared with a grid of " + text(blocks) + " blocks"};
  return check_demand(demand, device);
}

}  // namespace

GateLimits gate_limits(std::uint64_t weight_bytes) {
  GateLimits limits;
  limits.prepared_bytes = std::clamp(2 * weight_bytes, kPreparedFloor, kPreparedCeiling);
  return limits;
}

std::uint64_t grid_blocks(std::uint64_t declared, const DeviceFacts& device) {
  if ((declared & LaunchDeclaration::kPerSm) == 0) return declared;
  return (declared & (LaunchDeclaration::kPerSm - 1)) * static_cast<std::uint64_t>(device.sms);
}

Residency residency(const DeviceFacts& device, std::uint64_t block, int registers, std::uint64_t smem_bytes) {
  const std::uint64_t warps = std::max<std::uint64_t>(round_up(block, 32) / 32, 1);
  const std::uint64_t per_warp = std::max(round_up(static_cast<std::uint64_t>(registers) * 32, kRegisterUnit), kRegisterUnit);
  const std::uint64_t warps_by_registers =
      kSubPartitions * (static_cast<std::uint64_t>(device.registers_per_sm) / kSubPartitions / per_warp);
  const std::uint64_t shared = round_up(smem_bytes + device.shared_reserved_per_block, kSharedUnit);
  Residency fits{static_cast<std::uint64_t>(device.blocks_per_sm), "the blocks of an SM"};
  const auto bound = [&](std::uint64_t blocks, const std::string& what) {
    if (blocks < fits.blocks_per_sm) fits = {blocks, what};
  };
  bound(static_cast<std::uint64_t>(device.threads_per_sm) / (warps * 32), "threads (" + text(block) + " a block)");
  bound(warps_by_registers / warps, "registers (" + text(static_cast<std::uint64_t>(registers)) + " a thread)");
  if (shared > 0) bound(device.shared_per_sm / shared, "shared memory (" + text(smem_bytes) + " bytes a block)");
  return fits;
}

std::variant<Declarations, Refused> static_gate(const CompileReply& compiled, const DeviceFacts& device,
                                                const GateLimits& limits) {
  const PtxFacts facts = scan_ptx(compiled.ptx);
  Declarations declared;
  declared.prepares = read_prepares(facts);
  if (auto refused = check_entries(facts, declared.prepares, limits.marked)) return *refused;
  if (auto refused = check_parameters(facts, declared.prepares, limits)) return *refused;
  const auto launch = read_launch(facts);
  if (!launch)
    return Refused{"launch", "the source has no launch declaration; write OL_LAUNCH(.block = ..., .grid = ...); after the kernel"};
  declared.launch = *launch;
  Demand demand = demand_of(kEntry, facts, compiled);
  demand.block = launch->block;
  demand.grid = launch->grid;
  demand.dynamic_smem = launch->dynamic_smem;
  declared.resources = {demand.compiled.registers, demand.compiled.static_smem_bytes, demand.compiled.local_bytes,
                        demand.compiled.spill_bytes};
  if (auto refused = check_bytes(*launch, limits)) return *refused;
  if (auto refused = check_cluster(*launch, device)) return *refused;
  if (auto refused = check_demand(demand, device)) return *refused;
  if (auto refused = check_grid(demand, device)) return *refused;
  for (const PrepareDeclaration& prepare : declared.prepares)
    if (auto refused = check_prepare(prepare, facts, compiled, device)) return *refused;
  if (auto refused = check_findings(facts, limits.marked)) return *refused;
  return declared;
}

}  // namespace onelaunch::sandbox
