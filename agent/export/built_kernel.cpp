#include "agent/export/built_kernel.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/sha256.h"
#include "tasks/header.h"

namespace onelaunch::exporting {
namespace {

using Json = nlohmann::ordered_json;
constexpr std::size_t kWord = 8;

void put_word(Json& json, const char* name, std::size_t offset) {
  if (offset != tasks::ArgsLayout::npos) json[name] = offset / kWord;
}

Json layout_json(const tasks::ArgsLayout& layout) {
  Json json = {{"words", layout.bytes / kWord}};
  put_word(json, "position", layout.position);
  put_word(json, "cache_capacity", layout.cache_capacity);
  put_word(json, "epoch", layout.epoch);
  put_word(json, "prepared", layout.prepared);
  put_word(json, "sync", layout.sync);
  put_word(json, "scratch", layout.scratch);
  Json pointers = Json::object();
  for (const auto& [name, offset] : layout.pointers) pointers[name] = offset / kWord;
  json["pointers"] = std::move(pointers);
  return json;
}

const char* role_name(tasks::Role role) {
  switch (role) {
    case tasks::Role::weight: return "weight";
    case tasks::Role::state: return "state";
    case tasks::Role::input: return "input";
    case tasks::Role::output: break;
  }
  return "output";
}

// A cache's rows are null: it has as many as its owner gives it.
Json tensor_json(const tasks::Tensor& tensor) {
  Json shape = Json::array();
  for (const std::int64_t extent : tensor.shape) shape.push_back(extent == tasks::kCapacity ? Json() : Json(extent));
  return {{"name", tensor.name}, {"role", role_name(tensor.role)}, {"dtype", tasks::name_of(tensor.dtype)}, {"shape", shape}};
}

// Blocks, and whether that is for each multiprocessor.
void put_grid(Json& json, std::uint64_t grid) {
  json["grid"] = grid & (sandbox::LaunchDeclaration::kPerSm - 1);
  json["per_sm"] = (grid & sandbox::LaunchDeclaration::kPerSm) != 0;
}

Json launch_json(const sandbox::LaunchDeclaration& launch) {
  Json json;
  put_grid(json, launch.grid);
  json["block"] = launch.block;
  json["dynamic_smem"] = launch.dynamic_smem;
  json["cluster"] = std::max<std::uint64_t>(launch.cluster, 1);
  json["sync_bytes"] = launch.sync_bytes;
  json["scratch_bytes"] = launch.scratch_bytes;
  json["prepared_bytes"] = launch.prepared_bytes;
  return json;
}

Json prepare_json(const sandbox::PrepareDeclaration& prepare) {
  Json json = {{"name", prepare.name}};
  put_grid(json, prepare.grid);
  json["block"] = prepare.block;
  json["dynamic_smem"] = prepare.dynamic_smem;
  return json;
}

}  // namespace

Result<BuiltKernel> build(const Subject& subject, sandbox::Sandbox& sandbox, Deadline deadline) {
  const auto compiled = sandbox.compile({.source = subject.source, .tunables = subject.tunables}, deadline);
  if (!compiled) return because(compiled.error(), "compiling");
  if (!std::holds_alternative<sandbox::Passed>(compiled->outcome))
    return invalid("the kernel is refused (" + std::string(sandbox::name_of(compiled->outcome)) +
                   "): " + sandbox::explain(compiled->outcome) + (compiled->log.empty() ? "" : "\n" + compiled->log));
  BuiltKernel kernel{.cubin = subject.cubin.empty() ? compiled->cubin : subject.cubin,
                     .launch = compiled->launch,
                     .prepares = compiled->prepares,
                     .tunables = compiled->tunables};
  std::ranges::sort(kernel.prepares, {}, &sandbox::PrepareDeclaration::order);
  return kernel;
}

std::string describe(const Subject& subject, const BuiltKernel& kernel) {
  Json json = {{"task", subject.task.name},
               {"variant", subject.task.variant},
               {"target", subject.target},
               {"source_sha256", sha256_hex(subject.source)},
               {"cubin_sha256", sha256_hex(kernel.cubin)},
               {"tunables", kernel.tunables},
               {"dims", subject.task.dims}};
  json["launch"] = launch_json(kernel.launch);
  json["prepares"] = Json::array();
  for (const auto& prepare : kernel.prepares) json["prepares"].push_back(prepare_json(prepare));
  json["args"] = layout_json(tasks::args_layout(subject.task));
  json["prepare_args"] = layout_json(tasks::prepare_args_layout(subject.task));
  json["tensors"] = Json::array();
  for (const tasks::Tensor& tensor : subject.task.tensors) json["tensors"].push_back(tensor_json(tensor));
  return json.dump(-1, ' ', true, Json::error_handler_t::replace);
}

}  // namespace onelaunch::exporting
