#include "agent/loop/recorder.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "agent/loop/measurement_events.h"
#include "base/sha256.h"

namespace onelaunch::agent {
namespace {

std::optional<double> finite(double value) {
  return std::isfinite(value) ? std::optional<double>(value) : std::nullopt;
}

traces::Gate gate_event(const std::string& id, const sandbox::GateResult& gate) {
  traces::Gate event;
  event.candidate = id;
  event.stage = gate.stage;
  event.verdict = gate.passed ? "pass" : "fail";
  event.test = gate.test;
  event.tensor = gate.tensor;
  event.index = gate.index;
  event.got = finite(gate.got);
  event.want = finite(gate.want);
  event.tolerance = finite(gate.tolerance).value_or(0);
  event.context = gate.context;
  event.step = gate.step;
  event.seed = gate.seed;
  event.detail = gate.detail;
  return event;
}

}  // namespace

std::vector<traces::ContextTime> context_times(const std::vector<sandbox::Measurement>& times) {
  std::vector<traces::ContextTime> list;
  for (const sandbox::Measurement& time : times)
    list.push_back({.context = time.context,
                    .us_median = time.us_median,
                    .us_low = time.us_low,
                    .us_high = time.us_high,
                    .n = time.n});
  return list;
}

const char* kind_of(const std::vector<sandbox::Measurement>& times) {
  const bool modelled = std::any_of(times.begin(), times.end(), [](const auto& time) { return time.modelled; });
  return modelled || times.empty() ? "modelled" : "measured";
}

Recorder::Recorder(traces::Writer& writer, const Clock& clock, traces::SessionState state)
    : writer_(writer), clock_(clock), state_(std::move(state)) {}

void Recorder::write(const traces::Event& event) {
  if (!status_) return;
  status_ = writer_.append(event).map_error(doing("recording the session in " + writer_.run().string()));
  if (!status_) return;
  state_.apply({.seq = writer_.events(), .t = writer_.active_s(), .ts = clock_.utc_now(), .prev = "", .event = event});
}

std::string Recorder::store(const std::string& text) {
  Result<std::string> blob = writer_.store_blob(text);
  if (!blob && status_) status_ = because(blob.error(), "storing a blob");
  return blob.value_or(sha256_hex(text));
}

void Recorder::candidate(const std::string& id, const Proposal& proposal) {
  if (!status_) return;
  const Result<std::string> blob = writer_.store_blob(proposal.source);
  if (!blob) {
    status_ = because(blob.error(), "storing the source of " + id);
    return;
  }
  write(traces::Candidate{.id = id,
                          .parent = proposal.parent,
                          .source_sha256 = *blob,
                          .tunables = proposal.tunables,
                          .note = proposal.note,
                          .prediction_us = proposal.prediction_us});
}

void Recorder::compiled(const std::string& id, const sandbox::Compiled& compiled) {
  traces::Compile event;
  event.candidate = id;
  event.ok = std::holds_alternative<sandbox::Passed>(compiled.outcome);
  event.cached = compiled.cached;
  event.log = compiled.log;
  event.seconds = compiled.seconds;
  event.registers = compiled.resources.registers;
  event.spill_bytes = compiled.resources.spill_bytes;
  event.static_smem_bytes = compiled.resources.static_smem_bytes;
  event.ptx_sha256 = compiled.ptx_sha256;
  event.cubin_sha256 = compiled.cubin_sha256;
  write(event);
  if (const auto* refused = std::get_if<sandbox::Refused>(&compiled.outcome))
    write(traces::Gate{
        .candidate = id, .stage = "static", .verdict = "fail", .test = refused->rule, .detail = refused->message});
}

void Recorder::graded(const std::string& id, const sandbox::Grade& grade) {
  for (const sandbox::GateResult& gate : grade.gates) write(gate_event(id, gate));
  timed(id, grade.times);
}

void Recorder::timed(const std::string& id, const std::vector<sandbox::Measurement>& times) {
  for (const sandbox::Measurement& time : times) write(primary_event(id, time));
}

void Recorder::paired(const std::string& id, const std::string& against, int number,
                      const std::vector<sandbox::PairedTimes>& pairs, const WorkerGain& gain) {
  const auto sound = [](double us) { return std::isfinite(us) && us >= 0; };
  for (const sandbox::PairedTimes& of : pairs)
    if (std::ranges::all_of(of.candidate_us, sound) && std::ranges::all_of(of.against_us, sound))
      write(paired_event(id, against, number, of, gain));
}

void Recorder::infra_error(const std::string& what, const std::string& candidate) {
  traces::InfraError event{.what = what, .candidate = {}};
  if (!candidate.empty()) event.candidate = candidate;
  write(event);
}

void Recorder::baseline(const sandbox::BaselineResult& baseline) {
  const bool correct = !baseline.times.empty() && std::all_of(baseline.gates.begin(), baseline.gates.end(),
                                                              [](const auto& gate) { return gate.passed; });
  write(traces::Baseline{.name = baseline.name,
                         .kind = kind_of(baseline.times),
                         .times = context_times(baseline.times),
                         .launches = baseline.launches,
                         .correct = correct});
}

void Recorder::regrade(const std::string& id, const sandbox::Grade& grade, std::uint64_t seed) {
  traces::Regrade event;
  event.candidate = id;
  event.outcome = sandbox::name_of(grade.outcome);
  event.kind = kind_of(grade.times);
  event.times = context_times(grade.times);
  event.us = grade.times.empty() ? 0 : sandbox::score_us(grade.times);
  event.seed = seed;
  event.quarantine = grade.quarantine;
  write(event);
}

}  // namespace onelaunch::agent
