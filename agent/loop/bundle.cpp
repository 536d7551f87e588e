#include <nlohmann/json.hpp>

#include "agent/loop/closing.h"
#include "base/files.h"
#include "base/sha256.h"

namespace onelaunch::agent {
namespace {

using Json = nlohmann::ordered_json;
constexpr std::size_t kFileBytesMax = std::size_t{1} << 30;

Json optional_number(const std::optional<double>& value) { return value ? Json(*value) : Json(); }

Json describe(const traces::SessionState& state) {
  Json json;
  json["v"] = "onelaunch.bundle/1";
  if (state.start) {
    json["task"] = state.start->task;
    json["variant"] = state.start->variant;
    json["task_sha256"] = state.start->task_sha256;
    json["agent"] = state.start->agent;
    json["harness_version"] = state.start->harness_version;
    json["wall_s"] = state.start->wall_s;
  }
  if (state.device)
    json["device"] = {{"name", state.device->name}, {"kind", state.device->kind}, {"uuid", state.device->uuid}};
  json["times"] = state.kind();
  json["best"] = state.best;
  json["best_us"] = optional_number(state.best_us);
  json["seed_us"] = optional_number(state.seed_us);
  json["verified"] = state.verified();
  json["decisions"] = state.decisions;
  json["kept"] = state.kept;
  json["legs"] = state.legs;
  json["active_s"] = state.active_s;
  if (state.end) json["reason"] = state.end->reason;
  return json;
}

}  // namespace

Result<void> write_bundle(const Recorder& recorder) {
  const std::filesystem::path& run = recorder.writer().run();
  Json json = describe(recorder.state());
  for (const char* name : {"events.jsonl", "best/kernel.cu", "best/kernel.cubin", "best/card.json"}) {
    const Result<std::string> content = read_file(run / name, kFileBytesMax);
    if (content) json["files"][name] = {{"bytes", content->size()}, {"sha256", sha256_hex(*content)}};
  }
  return replace_file(run / "bundle.json", json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
}

}  // namespace onelaunch::agent
