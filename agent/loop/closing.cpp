#include "agent/loop/closing.h"

#include "agent/loop/best_kernel.h"
#include "agent/loop/grading.h"
#include "traces/card.h"

namespace onelaunch::agent {
namespace {

Result<void> write_best_files(Workplace& place, const Standing& best) {
  const std::filesystem::path& run = place.recorder.writer().run();
  return replace_best(run, {.source = with_defaults(best.proposal.source, best.proposal.tunables),
                            .cubin = best.compiled.cubin,
                            .card = traces::card_json(place.recorder.state(), best.id, run.filename().string())});
}

}  // namespace

Result<void> save_best(Workplace& place, const Standing& best) {
  const Result<void> saved = write_best_files(place, best);
  if (!saved) return saved;
  place.recorder.write(traces::Checkpoint{.candidate = best.id,
                                          .source_sha256 = best.compiled.source_sha256,
                                          .cubin_sha256 = best.compiled.cubin_sha256,
                                          .us = best.us});
  return place.recorder.status();
}

Regraded regrade_best(Workplace& place, const Standing& best) {
  const Deadline end = place.budget.end();
  if (place.stopping() || end.passed(place.clock)) return Regraded::skipped;
  place.observer.busy("re-grading " + best.id + " on fresh weights");
  const std::uint64_t seed = random_seed();
  const auto changed = try_step(place, "fresh weights", best.id, end, [&] { return place.sandbox.use_weights(seed); });
  if (!changed) return Regraded::skipped;
  const auto grade = run_grade(place, best.id, best.compiled, {.check = sandbox::Check::full}, end);
  if (!grade) return Regraded::skipped;
  const bool right = std::holds_alternative<sandbox::Passed>(grade->outcome),
             passed = right && grade->quarantine.empty();
  if (!passed && (place.stopping() || end.passed(place.clock))) return Regraded::skipped;
  place.recorder.regrade(best.id, *grade, seed);
  if (const Result<void> saved = write_best_files(place, best); !saved)
    place.recorder.infra_error(saved.error().message, best.id);
  if (!passed)
    place.observer.say("re-grade",
                       best.id + " failed: " + (right ? grade->quarantine : sandbox::explain(grade->outcome)));
  return passed ? Regraded::passed : Regraded::failed;
}

}  // namespace onelaunch::agent
