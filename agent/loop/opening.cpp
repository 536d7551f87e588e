#include "agent/loop/opening.h"

#include <cstdio>
#include <random>
#include <utility>

#include "agent/loop/baselines.h"
#include "agent/loop/comparison.h"
#include "agent/loop/controls.h"
#include "agent/loop/defaults.h"
#include "agent/loop/grading.h"
#include "tasks/floor.h"
#include "traces/reader.h"

namespace onelaunch::agent {
namespace {

std::string format_us(double us) {
  char text[48];
  std::snprintf(text, sizeof text, "%.2f us", us);
  return text;
}

void record_device(Workplace& place) {
  const sandbox::DeviceInfo& device = place.sandbox.device();
  place.recorder.write(traces::DeviceSeen{.kind = device.kind,
                                          .name = device.name,
                                          .uuid = device.uuid,
                                          .target = device.target,
                                          .nvrtc_version = device.nvrtc_version,
                                          .sms = device.sms,
                                          .driver_version = device.driver_version});
  place.observer.say("device", device.name + ", target " + device.target + ", NVRTC " + device.nvrtc_version +
                                   ", compiler confined by: " + device.containment);
  for (const std::string& warning : device.warnings) {
    place.observer.say("warning", warning);
    place.recorder.write(traces::Note{.author = "onelaunch", .text = "device: " + warning});
  }
}

void record_ceilings(Workplace& place) {
  const sandbox::DeviceInfo& device = place.sandbox.device();
  traces::Ceilings ceilings{.stream_tb_s = device.stream_tb_s,
                            .grid_barrier_us = device.grid_barrier_us,
                            .launch_us = device.launch_us,
                            .modelled = device.kind == "emu",
                            .floors = {}};
  std::string line;
  for (const tasks::SweepPoint& point : place.task.sweep) {
    const double bytes = tasks::token_cost(place.task, point.context).bytes();
    const double us = device.stream_tb_s > 0 ? bytes / (device.stream_tb_s * 1e6) : 0;
    ceilings.floors.push_back({.context = point.context, .bytes = bytes, .us = us});
    line += (line.empty() ? "" : ", ") + format_us(us) + " at context " + std::to_string(point.context);
  }
  place.recorder.write(ceilings);
  place.observer.say("floor", line + (ceilings.modelled ? " (modelled)" : ""));
}

// Modelled times repeat exactly: the noise is zero by construction.
void record_no_noise(Workplace& place) {
  place.recorder.write(traces::Noise{.modelled = true, .half_width = 0, .n = 0});
}

void record_noise(Workplace& place, const NoiseFloor& noise) {
  place.recorder.write(traces::Noise{.modelled = false,
                                     .half_width = noise.half_width,
                                     .n = noise.n,
                                     .workers = noise.workers,
                                     .worker_sd = noise.worker_sd});
  char line[160];
  std::snprintf(line, sizeof line, "+-%.3f %% over %d pairs in %d fresh workers, which differ by %.3f %%",
                100 * noise.half_width, noise.n, noise.workers, 100 * noise.worker_sd);
  place.observer.say("noise", line);
}

Result<sandbox::Outcome> outcome_of_control(Workplace& place, const ControlKernel& control, Deadline end) {
  const auto compiled = [&] {
    const Spending spending(place.meter, Spent::compile);
    return try_step(place, "control " + control.name, "", end, [&] {
      return place.sandbox.compile({.source = control.source, .tunables = {}},
                                   place.within(place.limits.compile_s, end));
    });
  }();
  if (!compiled) return because(compiled.error());
  if (!std::holds_alternative<sandbox::Passed>(compiled->outcome)) return compiled->outcome;
  const auto grade = run_grade(place, "", *compiled, {.check = sandbox::Check::quick}, end);
  if (!grade) return because(grade.error());
  return grade->outcome;
}

Result<void> check_control(Workplace& place, const ControlKernel& control, Deadline end) {
  place.observer.busy("control " + control.name);
  const Result<sandbox::Outcome> outcome = outcome_of_control(place, control, end);
  if (!outcome) return because(outcome.error(), "control " + control.name);
  const bool failed = std::holds_alternative<sandbox::WrongAnswer>(*outcome);
  place.recorder.write(
      traces::Control{.name = control.name, .failed_as_it_must = failed, .outcome = sandbox::name_of(*outcome)});
  if (failed) return {};
  if (std::holds_alternative<sandbox::Passed>(*outcome))
    return fail(Error::Kind::internal, "the control kernel `" + control.name +
                                           "` passed the gate, so the gate cannot be trusted: no session is opened");
  return fail(Error::Kind::internal, "the control kernel `" + control.name + "` did not reach the gate (" +
                                         sandbox::explain(*outcome) + "): no session is opened");
}

Result<void> check_controls(Workplace& place, Deadline end) {
  const bool all = affords_derived_controls(place.task, place.modelled());
  std::string names, left_out;
  for (const ControlKernel& control : control_kernels(place.task)) {
    if (control.derived && !all) {
      left_out += (left_out.empty() ? "" : ", ") + control.name;
      continue;
    }
    if (const Result<void> checked = check_control(place, control, end); !checked) return checked;
    names += (names.empty() ? "" : ", ") + control.name;
  }
  place.observer.say("controls", names + ": failed the gate, as they must");
  if (!left_out.empty()) place.observer.say("controls", left_out + ": left out, too slow on an emulator at this size");
  return {};
}

Result<Standing> stand(const std::string& id, Proposal proposal, Judgement judgement) {
  if (!judgement.judged) return unavailable(id + " could not be judged: " + judgement.why);
  if (!judgement.passed())
    return fail(Error::Kind::internal, id + " does not pass: " + sandbox::explain(judgement.grade.outcome));
  if (!judgement.grade.quarantine.empty())
    return fail(Error::Kind::internal, id + " is too fast to be true: " + judgement.grade.quarantine);
  proposal.tunables = judgement.compiled.tunables;
  const double us = sandbox::score_us(judgement.grade.times);
  return Standing{.id = id,
                  .proposal = std::move(proposal),
                  .compiled = std::move(judgement.compiled),
                  .times = std::move(judgement.grade.times),
                  .us = us};
}

void record_seed(Workplace& place, const Standing& seed, const std::string& reason) {
  place.recorder.write(traces::Decision{.candidate = seed.id,
                                        .verdict = "keep",
                                        .outcome = "passed",
                                        .us = seed.us,
                                        .ratio = 1.0,
                                        .low = {},
                                        .high = {},
                                        .n = 1,
                                        .incumbent = "",
                                        .reason = reason});
}

Result<Standing> grade_seed(Workplace& place, Judge& judge, const std::string& source, Deadline end) {
  const std::string id = "c0";
  Proposal proposal{.source = source, .tunables = {}, .parent = "", .note = "seed", .prediction_us = {}};
  fill_defaults(proposal);
  place.recorder.candidate(id, proposal);
  return stand(id, proposal, judge.judge(id, proposal, Compiling(), end));
}

Result<Proposal> recorded_proposal(const Workplace& place, const traces::Attempt& attempt) {
  const auto source = traces::read_blob(place.recorder.writer().run(), attempt.candidate.source_sha256);
  if (!source) return because(source.error(), "the source of " + attempt.candidate.id);
  return Proposal{.source = *source,
                  .tunables = attempt.candidate.tunables,
                  .parent = attempt.candidate.parent,
                  .note = attempt.candidate.note,
                  .prediction_us = attempt.candidate.prediction_us};
}

// The last candidate that was kept: a keep is on record before its checkpoint is.
const traces::Attempt* last_kept(const traces::SessionState& state) {
  const traces::Attempt* kept = nullptr;
  for (const traces::Attempt& attempt : state.attempts)
    if (attempt.decision && attempt.decision->verdict == "keep") kept = &attempt;
  return kept;
}

// Judges a recorded kernel anew: its times belong to this leg's device and weights.
Result<Standing> measure_anew(Workplace& place, Judge& judge, const traces::Attempt& attempt, Deadline end) {
  const std::string id = attempt.candidate.id;  // the attempt moves when the state grows
  Result<Proposal> proposal = recorded_proposal(place, attempt);
  if (!proposal) return because(proposal.error());
  return stand(id, *proposal, judge.judge(id, *proposal, Compiling(), end));
}

// On a GPU: the seed against itself, in fresh workers. They say how far two equal kernels may differ, and its time.
Result<void> measure_noise(Workplace& place, Deadline end, Opened& opened) {
  const Result<std::vector<Beside>> workers = grade_in_fresh_workers(place, opened.seed, opened.seed, end);
  if (!workers) return because(workers.error(), "the A/A test");
  opened.noise = noise_floor(gains_of(*workers));
  record_noise(place, *opened.noise);
  opened.seed.times = combined_times(*workers, opened.seed.times);
  opened.seed.us = sandbox::score_us(opened.seed.times);
  return {};
}

Result<void> stand_seed(Workplace& place, Judge& judge, const std::string& seed_source, Deadline end, Opened& opened) {
  const traces::SessionState& state = place.recorder.state();
  const bool known = !state.attempts.empty();
  Result<Standing> seed =
      known ? measure_anew(place, judge, state.attempts.front(), end) : grade_seed(place, judge, seed_source, end);
  if (!seed) return because(seed.error(), "the seed kernel");
  opened.seed = std::move(*seed);
  if (!place.modelled())
    if (const Result<void> measured = measure_noise(place, end, opened); !measured) return measured;
  record_seed(place, opened.seed, known ? "the seed, measured anew" : "the seed: what the session starts from");
  opened.incumbent = opened.seed;
  return {};
}

// Of a session that goes on: what was kept last, timed on this leg's device and weights.
Result<void> stand_incumbent(Workplace& place, Judge& judge, const std::string& id, Deadline end, Opened& opened) {
  Result<Standing> best = measure_anew(place, judge, *place.recorder.state().find(id), end);
  if (!best) return because(best.error(), "the incumbent");
  opened.incumbent = std::move(*best);
  if (place.modelled()) return {};
  const Result<std::vector<Beside>> workers = grade_in_fresh_workers(place, opened.incumbent, opened.seed, end);
  if (!workers) return because(workers.error(), "the incumbent");
  opened.incumbent.times = combined_times(*workers, opened.incumbent.times);
  opened.incumbent.us = sandbox::score_us(opened.incumbent.times);
  return {};
}

Result<void> stand_kernels(Workplace& place, Judge& judge, const std::string& seed_source, Deadline end,
                           Opened& opened) {
  const traces::Attempt* kept = last_kept(place.recorder.state());
  const std::string incumbent = kept ? kept->candidate.id : "";
  if (const Result<void> stood = stand_seed(place, judge, seed_source, end, opened); !stood) return stood;
  if (incumbent.empty() || incumbent == opened.seed.id) return {};
  return stand_incumbent(place, judge, incumbent, end, opened);
}

}  // namespace

std::uint64_t random_seed() {
  std::random_device device;
  return (std::uint64_t{device()} << 32) | device();
}

Result<Opened> open_session(Workplace& place, Judge& judge, const std::string& seed_source) {
  const Deadline end = place.budget.work_end();
  Opened opened;
  record_device(place);
  record_ceilings(place);
  if (place.modelled()) record_no_noise(place);
  measure_baselines(place, end, opened);
  if (const Result<void> checked = check_controls(place, end); !checked) return because(checked.error());
  if (const Result<void> stood = stand_kernels(place, judge, seed_source, end, opened); !stood)
    return because(stood.error());
  place.observer.say("seed", opened.seed.id + " " + format_us(opened.seed.us) + " " + kind_of(opened.seed.times));
  if (opened.incumbent.id != opened.seed.id)
    place.observer.say("incumbent", opened.incumbent.id + " " + format_us(opened.incumbent.us));
  return opened;
}

}  // namespace onelaunch::agent
