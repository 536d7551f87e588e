#include "tasks/dump.h"

#include <algorithm>
#include <list>
#include <nlohmann/json.hpp>
#include <system_error>
#include <thread>

#include "tasks/safetensors.h"
#include "base/files.h"
#include "tasks/generator.h"
#include "tasks/oracle.h"

namespace onelaunch::tasks {
namespace {

int threads() { return static_cast<int>(std::max(1u, std::thread::hardware_concurrency())); }

std::vector<std::int64_t> shape_of(const Tensor& tensor, std::int64_t capacity) {
  std::vector<std::int64_t> shape = tensor.shape;
  std::replace(shape.begin(), shape.end(), kCapacity, capacity);
  return shape;
}

NamedTensor named(const std::string& name, const Tensor& tensor, std::int64_t capacity,
                  std::span<const std::byte> bytes) {
  return {.name = name, .dtype = tensor.dtype, .shape = shape_of(tensor, capacity), .bytes = bytes};
}

std::vector<NamedTensor> named_states(const Task& task, const std::string& prefix, std::int64_t capacity,
                                      const std::vector<Bytes>& states) {
  std::vector<NamedTensor> list;
  const auto tensors = task.with(Role::state);
  for (std::size_t i = 0; i < tensors.size(); ++i)
    list.push_back(named(prefix + tensors[i]->name, *tensors[i], capacity, states[i]));
  return list;
}

std::vector<Bytes> draw_states(const Task& task, const DumpOptions& options, std::int64_t capacity) {
  std::vector<Bytes> states;
  for (const Tensor* state : task.with(Role::state)) {
    states.emplace_back(state->bytes(capacity));
    fill_tensor(task, *state, options.seed, options.set, options.context, states.back());
  }
  return states;
}

// Runs the steps; `kept` owns the bytes that the list refers to.
Result<std::vector<NamedTensor>> run_steps(const Task& task, Oracle& oracle, const DumpOptions& options,
                                           std::int64_t capacity, std::list<Bytes>& kept) {
  std::vector<NamedTensor> list;
  const Tensor& input = *task.with(Role::input).front();
  const auto outputs = task.with(Role::output);
  for (int step = 0; step < options.steps; ++step) {
    auto token = draw_token(oracle, task, options.seed, options.set, step);
    if (!token) return because(token.error(), "drawing the token of step " + std::to_string(step));
    const std::string prefix = std::to_string(step) + ".";
    list.push_back(named(prefix + input.name, input, capacity, kept.emplace_back(std::move(token->token))));
    OracleStep answer = oracle.step(kept.back());
    for (std::size_t i = 0; i < outputs.size(); ++i)
      list.push_back(
          named(prefix + outputs[i]->name, *outputs[i], capacity, kept.emplace_back(std::move(answer.outputs[i]))));
  }
  const auto after = named_states(task, "after.", capacity, oracle.states());
  list.insert(list.end(), after.begin(), after.end());
  return list;
}

// The ops with everything expanded, for programs that run them: tasks/torch_baseline.py does.
Result<void> write_graph(const Task& task, const DumpOptions& options) {
  nlohmann::ordered_json graph = {{"task", task.name},         {"variant", task.variant}, {"context", options.context},
                                  {"steps", options.steps},    {"inputs", nlohmann::ordered_json::array()},
                                  {"outputs", nlohmann::ordered_json::array()}, {"ops", nlohmann::ordered_json::array()}};
  for (const Tensor* input : task.with(Role::input)) graph["inputs"].push_back(input->name);
  for (const Tensor* output : task.with(Role::output)) graph["outputs"].push_back(output->name);
  for (const Op& op : task.ops)
    graph["ops"].push_back({{"name", op.name},
                            {"kind", op.kind},
                            {"inputs", op.inputs},
                            {"outputs", op.outputs},
                            {"attributes", op.attributes},
                            {"round", name_of(op.round_to)}});
  return replace_file(options.out / "graph.json", graph.dump(1) + "\n");
}

}  // namespace

Result<std::string> dump_task(const Task& task, const DumpOptions& asked) {
  DumpOptions options = asked;
  if (options.context < 0) options.context = task.sweep.empty() ? 0 : task.sweep.front().context;
  const std::int64_t capacity = options.context + options.steps;
  std::error_code error;
  std::filesystem::create_directories(options.out, error);
  if (error) return unavailable("cannot create " + options.out.string() + ": " + error.message());

  const WeightArena arena = weight_arena(task);
  Bytes weights(arena.bytes);
  fill_weights(task, options.seed, options.set, weights, threads());
  std::vector<NamedTensor> weight_list;
  for (const auto& place : arena.places)
    weight_list.push_back(
        named(place.tensor->name, *place.tensor, capacity, std::span(weights).subspan(place.offset, place.bytes)));

  const std::vector<Bytes> states = draw_states(task, options, capacity);
  Oracle oracle(task, weights, threads());
  oracle.reset(states, options.context, capacity);
  std::list<Bytes> kept;
  const auto steps = run_steps(task, oracle, options, capacity, kept);
  if (!steps) return because(steps.error());

  const std::map<std::string, std::string> metadata = {
      {"task", task.name},
      {"variant", task.variant},
      {"task_sha256", task.sha256},
      {"seed", std::to_string(options.seed)},
      {"context", std::to_string(options.context)},
      {"inputs", options.set == InputSet::nominal ? "nominal" : "strict"}};
  const auto write = [&](const char* name, const std::vector<NamedTensor>& tensors) {
    return write_safetensors(options.out / name, tensors, metadata);
  };
  const Result<void> written =
      write("weights.safetensors", weight_list)
          .and_then([&] { return write("states.safetensors", named_states(task, "", capacity, states)); })
          .and_then([&] { return write("steps.safetensors", *steps); })
          .and_then([&] { return write_graph(task, options); });
  if (!written) return because(written.error());
  return "weights.safetensors  " + std::to_string(weight_list.size()) + " tensors\nstates.safetensors   " +
         std::to_string(states.size()) + " tensors, before the first step\nsteps.safetensors    " +
         std::to_string(steps->size()) + " tensors: each step's input and outputs, the states in the end\n" +
         "graph.json           " + std::to_string(task.ops.size()) + " ops\n";
}

}  // namespace onelaunch::tasks
