#include "agent/cli/profile_json.h"

#include <nlohmann/json.hpp>

namespace onelaunch::cli {
namespace {

using Json = nlohmann::ordered_json;

Json json_of(const sandbox::Spread& spread) { return {{"min", spread.low}, {"median", spread.median}, {"max", spread.high}}; }
Json maybe(const std::optional<double>& value) { return value ? Json(*value) : Json(nullptr); }

Json json_of(const sandbox::ProfiledPhase& phase) {
  return {{"name", phase.name},
          {"passes", phase.passes},
          {"blocks", phase.blocks},
          {"us", json_of(phase.us)},
          {"wait_us", json_of(phase.wait_us)},
          {"share", phase.share},
          {"critical_us", phase.critical_us},
          {"stragglers", phase.stragglers},
          {"floor_mb", maybe(phase.floor_mb)},
          {"dram_mb", maybe(phase.dram_mb)}};
}

Json json_of(const sandbox::ProbeResult& probe) {
  return {{"name", probe.name}, {"dtype", probe.dtype},   {"ok", probe.ok},   {"elements", probe.elements}, {"copied", probe.copied},
          {"rel_l2", probe.rel_l2}, {"worst", probe.worst}, {"got", probe.got}, {"want", probe.want},         {"tolerance", probe.tolerance},
          {"detail", probe.detail}};
}

Json json_of(const sandbox::KernelResources& resources) {
  return {{"registers", resources.registers},
          {"spill_bytes", resources.spill_bytes},
          {"local_bytes", resources.local_bytes},
          {"static_smem_bytes", resources.static_smem_bytes},
          {"dynamic_smem_bytes", resources.dynamic_smem_bytes},
          {"grid", resources.grid},
          {"block", resources.block},
          {"blocks_per_sm", resources.blocks_per_sm},
          {"limited_by", resources.bound},
          {"occupancy", resources.occupancy}};
}

Json json_of(const sandbox::SassReport& sass) {
  Json json = {{"tool", sass.tool}, {"problem", sass.problem}, {"instructions", sass.instructions}, {"classes", sass.classes}, {"pipes", sass.pipes}};
  json["loops"] = Json::array();
  for (const sandbox::SassReport::Loop& loop : sass.loops)
    json["loops"].push_back({{"place", loop.place}, {"depth", loop.depth}, {"instructions", loop.instructions}, {"classes", loop.classes}, {"pipes", loop.pipes}});
  return json;
}

Json json_of(const sandbox::ModelledPhase& phase) {
  return {{"us", phase.us}, {"dram_mb", phase.dram_mb}, {"bound", phase.bound}, {"within", phase.within}, {"warp_instructions", phase.warp_instructions}};
}

template <class T>
Json list_of(const std::vector<T>& all) {
  Json list = Json::array();
  for (const T& one : all) list.push_back(json_of(one));
  return list;
}

}  // namespace

std::string profile_json(const sandbox::KernelProfile& p, const sandbox::DeviceInfo& device) {
  Json json;
  json["outcome"] = sandbox::name_of(p.outcome);
  json["explanation"] = sandbox::explain(p.outcome);
  json["device"] = {{"kind", device.kind}, {"name", device.name}, {"uuid", device.uuid}, {"target", device.target}};
  json["kind"] = p.modelled ? "modelled" : "measured";
  json["source_sha256"] = p.source_sha256, json["tunables"] = p.tunables;
  json["context"] = p.context, json["seed"] = p.seed, json["launches"] = p.launches;
  json["wrong"] = p.wrong;
  json["token_us"] = p.token_us, json["launch_us"] = json_of(p.launch_us), json["unmarked_us"] = json_of(p.unmarked_us);
  json["floor_us"] = p.floor_us, json["floor_mb"] = p.floor_mb;
  json["critical_us"] = p.critical_us, json["barrier_us"] = p.barrier_us, json["barriers"] = p.barriers, json["wait_us"] = json_of(p.wait_us);
  json["phases"] = list_of(p.phases);
  json["modelled_phases"] = list_of(p.modelled_phases);
  json["probes"] = list_of(p.probes);
  json["resources"] = json_of(p.resources);
  json["sass"] = json_of(p.sass);
  json["notes"] = p.notes, json["log"] = p.log;
  return json.dump(2, ' ', false, Json::error_handler_t::replace);
}

}  // namespace onelaunch::cli
