#include "sandbox/emulator/device.h"

#include <algorithm>
#include <cstring>

#include "sandbox/emulator/check/shadow.h"
#include "sandbox/emulator/exec/cluster.h"
#include "sandbox/emulator/exec/launch.h"
#include "sandbox/emulator/memory/arena.h"
#include "sandbox/emulator/program/program.h"
#include "sandbox/emulator/ptx/module.h"

namespace onelaunch::emu {
namespace {

constexpr std::size_t kWorkspaceBytes = 1024;

Fault refusal(Fault::Kind kind, std::string message) { return {kind, std::move(message), {}}; }

Fault not_resident(const Program& program, const LaunchShape& shape, int resident) {
  const std::string clusters = shape.cluster > 1 ? " in clusters of " + std::to_string(shape.cluster) : "";
  return refusal(Fault::Kind::not_resident, "a grid of " + std::to_string(shape.grid) + " blocks of " + std::to_string(shape.block) +
      " threads" + clusters + " with " + std::to_string(program.shared_static_bytes + shape.dynamic_shared_bytes) +
      " bytes of shared memory does not fit: " + std::to_string(resident) + " such blocks are resident at once");
}

// The cluster size that the kernel declares or the launch asks for.
std::optional<Fault> fit_clusters(const Program& program, LaunchShape& shape) {
  const auto declared = static_cast<unsigned>(program.cluster_blocks);
  if (declared > 1 && shape.cluster > 1 && declared != shape.cluster) {
    return refusal(Fault::Kind::misuse, "the kernel declares clusters of " + std::to_string(declared) + " blocks and is launched in clusters of " + std::to_string(shape.cluster));
  }
  shape.cluster = std::max({declared, shape.cluster, 1u});
  if (shape.cluster > kClusterBlocksMax) return refusal(Fault::Kind::misuse, "clusters have at most 16 blocks");
  if (shape.grid % shape.cluster == 0) return std::nullopt;
  return refusal(Fault::Kind::misuse, "a grid of " + std::to_string(shape.grid) + " blocks is no multiple of its clusters of " + std::to_string(shape.cluster));
}

}  // namespace

struct LoadedModule {
  std::shared_ptr<const ptx::Module> text;
  SymbolAddresses symbols;
  std::vector<std::uint64_t> allocations;
  std::map<std::string, LoadedEntry> entries;
  Memory* memory = nullptr;

  LoadedModule() = default;
  LoadedModule(const LoadedModule&) = delete;
  LoadedModule& operator=(const LoadedModule&) = delete;

  Result<LoadedEntry*> entry(const std::string& name) {
    if (const auto found = entries.find(name); found != entries.end()) return &found->second;
    Result<std::shared_ptr<const Program>> program = decode(text, name, symbols);
    if (!program) return because(program.error());
    return &entries.emplace(name, make_entry(std::move(*program))).first->second;
  }
};

struct Device::State {
  DeviceProfile profile;
  std::unique_ptr<Memory> memory;
  std::string memory_error;              // why there is none
  std::uint64_t workspace = 0;
};

Device::Device(DeviceProfile profile) : state_(std::make_unique<State>()) {
  state_->profile = std::move(profile);
  Result<std::unique_ptr<Memory>> memory = Memory::reserve();
  if (memory) state_->memory = std::move(*memory);
  else state_->memory_error = memory.error().message;
}

Device::~Device() = default;

const DeviceProfile& Device::profile() const { return state_->profile; }

Result<std::uint64_t> Device::allocate(const AllocationSpec& spec) {
  if (!state_->memory) return unavailable(state_->memory_error);
  const Result<std::uint64_t> address = state_->memory->allocate(spec.name, spec.bytes, spec.read_only);
  if (address && spec.undefined) set_defined(*address, false);
  return address;
}

Result<std::uint64_t> Device::map(const AllocationSpec& spec, int fd, std::uint64_t offset) {
  if (!state_->memory) return unavailable(state_->memory_error);
  return state_->memory->map(spec.name, spec.bytes, fd, offset);
}

void Device::set_defined(std::uint64_t address, bool defined) {
  Allocation* const allocation = state_->memory ? state_->memory->find(address) : nullptr;
  if (!allocation) return;
  allocation->defined = defined ? nullptr : std::make_shared<DefinedBytes>();
}

void Device::free(std::uint64_t address) { state_->memory->free(address); }

std::span<std::byte> Device::bytes(std::uint64_t address) {
  const Allocation* const allocation = state_->memory ? state_->memory->find(address) : nullptr;
  if (!allocation || allocation->begin != address) return {};
  return {reinterpret_cast<std::byte*>(allocation->begin), allocation->end - allocation->begin};
}

Result<std::shared_ptr<LoadedModule>> Device::load(std::string ptx) {
  Result<ptx::Module> parsed = ptx::parse(ptx);
  if (!parsed) return because(parsed.error());
  auto module = std::make_shared<LoadedModule>();
  module->text = std::make_shared<const ptx::Module>(std::move(*parsed));
  module->memory = state_->memory.get();
  for (const ptx::Variable& variable : module->text->variables) {
    const bool in_memory = variable.space == ptx::Space::global || variable.space == ptx::Space::constant;
    if (!in_memory || variable.bytes == 0) continue;
    const Result<std::uint64_t> address = allocate({"variable " + variable.name, variable.bytes, false});
    if (!address) return because(address.error(), "variable " + variable.name);
    module->symbols[variable.name] = *address;
    module->allocations.push_back(*address);
    if (!variable.initial.empty()) std::memcpy(reinterpret_cast<void*>(*address), variable.initial.data(), variable.initial.size());
  }
  for (const ptx::Variable& variable : module->text->variables) {
    for (const ptx::Variable::Reference& reference : variable.references) {
      const auto target = module->symbols.find(reference.symbol);
      const auto place = module->symbols.find(variable.name);
      if (target == module->symbols.end() || place == module->symbols.end())
        return invalid("variable " + variable.name + " holds the address of " + reference.symbol + ", which has none");
      const std::uint64_t value = target->second + static_cast<std::uint64_t>(reference.addend);
      std::memcpy(reinterpret_cast<std::byte*>(place->second) + reference.offset, &value, sizeof value);
    }
  }
  return module;
}

std::optional<std::vector<std::byte>> Device::initial_bytes(const LoadedModule& module, const std::string& variable) const {
  for (const ptx::Variable& each : module.text->variables) {
    if (each.name != variable) continue;
    std::vector<std::byte> bytes = each.initial;
    bytes.resize(each.bytes);
    return bytes;
  }
  return std::nullopt;
}

std::vector<std::string> Device::entries(const LoadedModule& module) const {
  std::vector<std::string> names;
  for (const ptx::Function& function : module.text->functions)
    if (function.entry) names.push_back(function.name);
  return names;
}

int Device::resident_blocks(const LaunchShape& shape, int registers_per_thread, std::size_t static_shared_bytes) const {
  const DeviceProfile& p = state_->profile;
  const int threads = static_cast<int>((shape.block + 31) / 32 * 32);
  if (threads == 0 || threads > p.threads_per_block) return 0;
  const std::size_t shared = static_shared_bytes + shape.dynamic_shared_bytes;
  if (shared > p.shared_per_block) return 0;
  int per_sm = std::min(p.blocks_per_sm, p.threads_per_sm / threads);
  per_sm = std::min(per_sm, static_cast<int>(p.shared_per_sm / (shared + p.shared_reserved_per_block)));
  // Registers are given to warps in units of 256.
  const int per_warp = (registers_per_thread * 32 + 255) / 256 * 256;
  if (per_warp > 0) per_sm = std::min(per_sm, p.registers_per_sm / per_warp / (threads / 32));
  const int cluster = static_cast<int>(shape.cluster);
  if (cluster <= 1) return per_sm * p.sms;
  int blocks = 0;
  for (const int sms : p.gpc_sms) blocks += per_sm * sms / cluster * cluster;
  return blocks;
}

Result<LaunchReport> Device::launch(LoadedModule& module, const std::string& entry, const LaunchShape& shape,
                                    std::span<const std::byte> params, const LaunchOptions& options) {
  if (!state_->memory) return unavailable(state_->memory_error);
  const Result<LoadedEntry*> loaded = module.entry(entry);
  if (!loaded) return because(loaded.error());
  const Program& program = *(*loaded)->program;
  if (params.size() < program.param_bytes)
    return invalid("entry " + entry + " takes " + std::to_string(program.param_bytes) + " bytes of parameters, " + std::to_string(params.size()) + " given");
  LaunchReport report;
  LaunchShape whole = shape;
  if (std::optional<Fault> wrong = fit_clusters(program, whole)) {
    report.faults.push_back(std::move(*wrong));
    return report;
  }
  const int resident = resident_blocks(whole, shape.registers_per_thread, program.shared_static_bytes);
  if (resident == 0 || shape.grid == 0 || (options.cooperative && shape.grid > static_cast<unsigned>(resident))) {
    report.faults.push_back(not_resident(program, whole, resident));
    return report;
  }
  if (state_->workspace == 0) {
    const Result<std::uint64_t> workspace = allocate({"cooperative groups workspace", kWorkspaceBytes, false});
    if (!workspace) return because(workspace.error());
    state_->workspace = *workspace;
  }
  std::memset(reinterpret_cast<void*>(state_->workspace), 0, kWorkspaceBytes);
  return run_launch(**loaded, *state_->memory, state_->profile, whole, resident, params, state_->workspace, options);
}

}  // namespace onelaunch::emu
