#include "sandbox/host/eager_baseline.h"

#include <algorithm>

#include "sandbox/host/candidate_buffers.h"
#include "sandbox/host/chain.h"
#include "sandbox/host/device_session.h"
#include "sandbox/host/eager_order.h"
#include "sandbox/host/gate_report.h"
#include "sandbox/host/grade_plan.h"
#include "sandbox/host/measure.h"
#include "sandbox/host/oracle_reference.h"
#include "tasks/eager.h"

namespace onelaunch::sandbox {
namespace {

constexpr int kSteps = 2;

std::string why(const Outcome& outcome) { return "the eager baseline did not run: " + explain(outcome); }

// The baseline in one context.
class ContextRun {
 public:
  ContextRun(const GradeBench& bench, const Weights& weights, DeviceSession& session, Deadline deadline)
      : bench_(bench), weights_(weights), session_(session), deadline_(deadline) {}

  Result<Measurement> run(const tasks::EagerPlan& plan, const CompileReply& compiled, const ChainSpec& spec,
                          GateReport& report) {
    if (auto done = set_up(plan, compiled, spec.start.capacity); !done) return because(done.error());
    OracleReference reference(bench_.task, weights_.bytes(), bench_.threads);
    Chain chain(bench_.task, reference, spec);
    auto begun = chain.begin();
    if (!begun) return because(begun.error());
    std::vector<std::vector<LaunchResult>> steps;
    for (int i = 0; i < spec.steps; ++i) {
      auto inputs = chain.next_inputs();
      if (!inputs) return because(inputs.error());
      RunJob job = i == 0 ? std::move(begun->front()) : RunJob();
      job.writes.insert(job.writes.end(), inputs->begin(), inputs->end());
      for (const tasks::EagerLaunch& launch : plan.launches)
        job.launches.push_back(eager_order(bench_.task, launch, chain.position(), spec.start.capacity));
      job.reads = chain.reads();
      Result<void> expected;
      auto said = session_.run(std::move(job), deadline_, bench_.limits.launch_s, [&] { expected = chain.expect(); });
      if (!said) return because(said.error());
      if (!expected) return because(expected.error());
      if (const Outcome* outcome = std::get_if<Outcome>(&*said)) return fail(Error::Kind::internal, why(*outcome));
      RunReply& reply = std::get<RunReply>(*said);
      report.add(chain.judge(reply.reads), {spec.start.context, i, spec.start.seed, false});
      steps.push_back(std::move(reply.launches));
    }
    return measurement_of(spec.start.context, steps);
  }

 private:
  Result<void> set_up(const tasks::EagerPlan& plan, const CompileReply& compiled, std::int64_t capacity) {
    SetupJob job;
    job.target = bench_.device.target;
    job.modules = {{kEagerModule, compiled.ptx, compiled.cubin}};
    job.buffers = tensor_buffers(bench_.task, weights_, capacity);
    for (const tasks::EagerBuffer& buffer : plan.buffers)
      job.buffers.push_back({eager_buffer(bench_.task, buffer.name), buffer.bytes, false, 0});
    auto said = session_.set_up(job, weights_.fd(), deadline_, bench_.limits.launch_s);
    if (!said) return because(said.error());
    if (const Outcome* outcome = std::get_if<Outcome>(&*said)) return fail(Error::Kind::internal, why(*outcome));
    return {};
  }

  const GradeBench& bench_;
  const Weights& weights_;
  DeviceSession& session_;
  Deadline deadline_;
};

}  // namespace

Result<BaselineResult> eager_baseline(const GradeBench& bench, Compiler& compiler, const Weights& weights,
                                      Deadline deadline, const Interrupts::Scope& interrupts) {
  auto session = DeviceSession::start(bench.worker, "emu", bench.clock, interrupts);
  if (!session) return because(session.error());
  BaselineResult result;
  result.name = "eager";
  GateReport report;
  const bool heavy = weights.bytes().size() > kHeavyWeightBytes;
  for (const tasks::SweepPoint& point : bench.task.sweep) {
    const int steps = heavy ? 1 : std::min(point.steps, kSteps);
    const ChainSpec spec{{tasks::InputSet::nominal, point.context, point.context + steps + 1, fresh_seed()}, steps};
    const tasks::EagerPlan plan = tasks::eager_plan(bench.task, spec.start.capacity);
    CompileJob job;
    job.source = plan.source;
    job.options = {"--gpu-architecture=" + bench.device.target, "--std=c++20"};
    auto compiled = compiler.compile(std::move(job), deadline, interrupts);
    if (!compiled) return because(compiled.error());
    if (compiled->reply.status != CompileReply::Status::compiled)
      return fail(Error::Kind::internal, "the eager baseline does not compile:\n" + compiled->reply.log);
    auto time = ContextRun(bench, weights, *session, deadline).run(plan, compiled->reply, spec, report);
    if (!time) return because(time.error());
    result.times.push_back(std::move(*time));
    result.launches = static_cast<int>(plan.launches.size());
  }
  result.gates = report.gates();
  return result;
}

}  // namespace onelaunch::sandbox
