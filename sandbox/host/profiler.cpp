#include "sandbox/host/profiler.h"

#include <algorithm>
#include <cctype>

#include "sandbox/host/disassembler.h"
#include "sandbox/host/static_gate.h"
#include "tasks/floor.h"

namespace onelaunch::sandbox {
namespace {

using tasks::Build;

bool passed(const Outcome& outcome) { return std::holds_alternative<Passed>(outcome); }

// A name without the parts that are numbers: "kda.0.q" is "kda.q".
std::string without_indices(const std::string& name) {
  std::string kept;
  for (std::size_t at = 0; at <= name.size();) {
    const std::size_t dot = std::min(name.find('.', at), name.size());
    const std::string part = name.substr(at, dot - at);
    at = dot + 1;
    if (!part.empty() && std::ranges::all_of(part, [](unsigned char c) { return std::isdigit(c) != 0; })) continue;
    kept += (kept.empty() ? "" : ".") + part;
  }
  return kept;
}

bool begins_with_part(const std::string& name, const std::string& part) {
  return name.starts_with(part) && (name.size() == part.size() || name[part.size()] == '.');
}

KernelResources resources_of(const Compiled& compiled, const DeviceFacts& device) {
  KernelResources all;
  all.registers = compiled.resources.registers;
  all.spill_bytes = compiled.resources.spill_bytes, all.local_bytes = compiled.resources.local_bytes;
  all.static_smem_bytes = compiled.resources.static_smem_bytes, all.dynamic_smem_bytes = compiled.launch.dynamic_smem;
  all.block = compiled.launch.block, all.grid = grid_blocks(compiled.launch.grid, device);
  const Residency fits = residency(device, all.block, all.registers, all.static_smem_bytes + all.dynamic_smem_bytes);
  all.blocks_per_sm = fits.blocks_per_sm, all.bound = fits.bound;
  const auto sms = static_cast<std::uint64_t>(std::max(device.sms, 1));
  const std::uint64_t at_once = std::min(fits.blocks_per_sm, (all.grid + sms - 1) / sms);
  if (device.threads_per_sm > 0) all.occupancy = static_cast<double>(at_once * all.block) / device.threads_per_sm;
  return all;
}

// One profile in progress.
class Profiling {
 public:
  Profiling(const ProfilerParts& parts, const ProfileRequest& request, MarkedRunner& runner, Deadline deadline,
            const Interrupts::Scope& interrupts)
      : parts_(parts), request_(request), runner_(runner), deadline_(deadline), interrupts_(interrupts),
        plan_(plan_profile(parts.bench.task, request, parts.on_gpu, parts.heavy)) {}

  Result<KernelProfile> profile() {
    profile_.modelled = !parts_.on_gpu, profile_.context = plan_.context, profile_.seed = plan_.seed;
    auto ended = all();
    if (!ended) return because(ended.error());
    profile_.outcome = ended->value_or(Passed{});
    return std::move(profile_);
  }

 private:
  Step all() {
    auto timed = parts_.compiler.compile({request_.source, request_.tunables}, deadline_, interrupts_);
    if (!timed) return because(timed.error());
    profile_.log = timed->log, profile_.source_sha256 = timed->source_sha256, profile_.tunables = timed->tunables;
    if (!passed(timed->outcome)) return timed->outcome;
    profile_.resources = resources_of(*timed, parts_.bench.device);
    if (request_.sass) profile_.sass = disassemble(timed->cubin, "megakernel", parts_.bench.clock, deadline_, interrupts_);
    set_floor();
    if (auto step = phases(); !step || *step) return step;
    if (auto step = unmarked(*timed); !step || *step) return step;
    return probes();
  }

  void set_floor() {
    profile_.floor_mb = tasks::token_cost(parts_.bench.task, plan_.context).bytes() / 1e6;
    if (parts_.bench.device.stream_tb_s > 0) profile_.floor_us = profile_.floor_mb / parts_.bench.device.stream_tb_s;
  }

  // The marks may not compile where a declaration may not stand, and their cursor may not fit: then with less.
  Result<Compiled> profile_build() {
    CandidateCompiler::MarkedBuild build{Build::profile, {}};
    for (bool plain = false, global = false;;) {
      auto compiled = parts_.compiler.compile({request_.source, request_.tunables}, build, deadline_, interrupts_);
      if (!compiled) return because(compiled.error());
      const Refused* refused = std::get_if<Refused>(&compiled->outcome);
      if (std::holds_alternative<CompileFailed>(compiled->outcome) && !plain) {
        plain = true;
        build.defines.push_back("OL_PROFILE_PLAIN");
        profile_.notes.push_back("a mark stands where no declaration may (after a case label, or two on a line)");
      } else if (refused != nullptr && (refused->rule == "shared_memory" || refused->rule == "grid") && !global) {
        global = true;
        build.defines.push_back("OL_PROFILE_GLOBAL");
        profile_.notes.push_back("no shared memory is left for the marks: each costs a block some 0.3 us");
      } else {
        return compiled;
      }
    }
  }

  Step phases() {
    auto marked = profile_build();
    if (!marked) return because(marked.error());
    if (!passed(marked->outcome)) {
      profile_.log = marked->log;
      return prefixed("the profile build: ", marked->outcome);
    }
    ProfiledLaunches launches;
    if (auto step = runner_.launch(*marked, plan_, launches); !step || *step) return step;
    profile_.wrong = launches.wrong;
    profile_.launch_us = spread_of(launches.launch_us);
    profile_.launches = static_cast<int>(launches.stamps.size());
    take(summarise(launches.stamps), launches);
    return std::nullopt;
  }

  // What the marks cost.
  Step unmarked(const Compiled& timed) {
    if (parts_.heavy && !parts_.on_gpu) return std::nullopt;
    ProfilePlan plan = plan_;
    plan.marked = false;
    ProfiledLaunches launches;
    auto step = runner_.launch(timed, plan, launches);
    profile_.unmarked_us = spread_of(launches.launch_us);
    return step;
  }

  static Outcome prefixed(const std::string& prefix, Outcome outcome) {
    if (Refused* refused = std::get_if<Refused>(&outcome)) refused->message = prefix + refused->message;
    return outcome;
  }

  void take(PhaseSummary summary, const ProfiledLaunches& launches) {
    profile_.token_us = summary.token_us;
    profile_.phases = std::move(summary.phases);
    profile_.wait_us = summary.wait_us, profile_.barriers = summary.barriers;
    profile_.critical_us = summary.critical_us, profile_.barrier_us = summary.barrier_us;
    if (launches.dropped > 0)
      profile_.notes.push_back(std::to_string(launches.dropped) + " stamps found no room; the rest is profiled");
    for (std::string& note : summary.notes) profile_.notes.push_back(std::move(note));
    if (profile_.phases.empty()) whole_kernel();
    for (ProfiledPhase& phase : profile_.phases) phase.floor_mb = floor_mb_of(phase.name, parts_.bench.task, plan_.context);
    take_modelled(launches);
  }

  // Nothing was stamped, so that there is the launch alone.
  void whole_kernel() {
    ProfiledPhase kernel;
    kernel.name = "kernel";
    kernel.passes = 1, kernel.share = 1;
    kernel.us = profile_.launch_us, kernel.critical_us = profile_.token_us = profile_.critical_us = profile_.launch_us.median;
    profile_.phases.push_back(std::move(kernel));
    profile_.notes.push_back("thread 0 of no block passed an OL_PHASE mark or ol::grid_barrier(): the time is the launch's");
  }

  void take_modelled(const ProfiledLaunches& launches) {
    if (launches.modelled.empty() || launches.stamps.empty()) return;
    const LaunchStamps& stamps = launches.stamps.back();
    double begin = -first_stamp_us(stamps);
    for (const LaunchPhase& phase : launches.modelled) {
      const double mb = static_cast<double>(phase.dram_bytes) / 1e6;
      const std::string within = phase_at(stamps, begin + phase.us / 2);
      begin += phase.us;
      profile_.modelled_phases.push_back({phase.bound, within, phase.us, mb, phase.warp_instructions});
      for (ProfiledPhase& marked : profile_.phases)
        if (marked.name == within) marked.dram_mb = marked.dram_mb.value_or(0) + mb;
    }
  }

  Step probes() {
    if (request_.source.find("OL_PROBE") == std::string::npos) return std::nullopt;
    auto marked = parts_.compiler.compile({request_.source, request_.tunables}, {Build::probe, {}}, deadline_, interrupts_);
    if (!marked) return because(marked.error());
    if (!passed(marked->outcome)) {
      profile_.log = marked->log;
      return prefixed("the probe build: ", marked->outcome);
    }
    auto probed = runner_.probe(*marked, plan_, ProbeTable(parts_.bench.task));
    if (!probed) return because(probed.error());
    if (Outcome* outcome = std::get_if<Outcome>(&*probed)) return std::move(*outcome);
    profile_.probes = std::move(std::get<std::vector<ProbeResult>>(*probed));
    return std::nullopt;
  }

  const ProfilerParts& parts_;
  const ProfileRequest& request_;
  MarkedRunner& runner_;
  Deadline deadline_;
  const Interrupts::Scope& interrupts_;
  ProfilePlan plan_;
  KernelProfile profile_;
};

}  // namespace

std::optional<double> floor_mb_of(const std::string& phase, const tasks::Task& task, std::int64_t context) {
  const std::vector<tasks::OpCost> costs = tasks::op_costs(task, context);
  double mb = 0;
  for (std::size_t at = 0; at <= phase.size();) {
    const std::size_t plus = std::min(phase.find('+', at), phase.size());
    const std::string part = phase.substr(at, plus - at);
    at = plus + 1;
    bool known = false;
    for (const tasks::OpCost& cost : costs)
      if (begins_with_part(cost.op, part) || begins_with_part(without_indices(cost.op), part)) mb += cost.cost.bytes() / 1e6, known = true;
    if (!known || part.empty()) return std::nullopt;
  }
  return mb;
}

Result<KernelProfile> profile_kernel(const ProfilerParts& parts, const ProfileRequest& request, MarkedRunner& runner, Deadline deadline,
                                     const Interrupts::Scope& interrupts) {
  if (request.context && *request.context < 0) return invalid("a context is a number of cached tokens, not " + std::to_string(*request.context));
  return Profiling(parts, request, runner, deadline, interrupts).profile();
}

}  // namespace onelaunch::sandbox
