#include "tasks/parse.h"

#include <algorithm>

#include "base/sha256.h"
#include "tasks/header_tree.h"
#include "tasks/ops/op.h"
#include "tasks/parse_ops.h"
#include "tasks/parse_tensors.h"
#include "tasks/task.h"

namespace onelaunch::tasks {
namespace {

constexpr const char* kFormat = "onelaunch.task/1";
constexpr const char* kFull = "full";

void read_dims(ParseContext& context, const JsonNode& node, bool replace, Task& task) {
  if (!context.is(node, JsonNode::Kind::object, "\"dims\"")) return;
  for (const JsonMember& member : node.members) {
    const bool named_well = is_identifier(member.key) && member.key.front() != '_' && !is_reserved_word(member.key);
    if (!named_well || member.key == "capacity")
      context.complain(member.line, "\"" + member.key + "\" cannot be a dim",
                       "a dim is an identifier that C++ has not taken; \"capacity\" is reserved for caches",
                       "rename it");
    if (replace && !task.dims.contains(member.key))
      context.complain(member.line, "the variant sets a dim that the task lacks: \"" + member.key + "\"",
                       "a variant gives other values to the task's dims", "correct the name");
    const std::int64_t value = context.is(member.value, JsonNode::Kind::integer, "a dim") ? member.value.integer : 1;
    if (value < 1 || value > (std::int64_t{1} << 31))
      context.complain(member.line, "the dim \"" + member.key + "\" is " + std::to_string(value), "dims are 1 to 2^31",
                       "correct it");
    task.dims[member.key] = value;
  }
}

std::vector<SweepPoint> read_sweep(ParseContext& context, const JsonNode& node, const Names& dims) {
  std::vector<SweepPoint> sweep;
  if (!context.is(node, JsonNode::Kind::array, "\"sweep\"")) return sweep;
  for (const JsonNode& item : node.items) {
    if (!context.object_of(item, "a sweep point", {"context", "steps"})) return sweep;
    const JsonNode* tokens = context.required(item, "a sweep point", "context");
    const JsonNode* steps = context.required(item, "a sweep point", "steps");
    if (tokens == nullptr || steps == nullptr) return sweep;
    const std::int64_t context_tokens = context.integer(*tokens, dims, "\"context\"");
    const std::int64_t step_count = context.integer(*steps, dims, "\"steps\"");
    if (context_tokens < 0 || context_tokens > (1 << 24) || step_count < 1 || step_count > 4096)
      context.complain(item.line, "a sweep point out of range", "contexts are 0 to 2^24 tokens and steps 1 to 4096",
                       "correct it");
    sweep.push_back({context_tokens, static_cast<int>(step_count)});
  }
  if (sweep.empty())
    context.complain(node.line, "an empty sweep", "a task is run at one context at least", "add a point");
  return sweep;
}

Tolerance read_tolerance(ParseContext& context, const JsonNode& node) {
  Tolerance tolerance;
  if (!context.object_of(node, "a tolerance", {"rel_l2", "max_rms", "max_rel"})) return tolerance;
  const auto limit = [&](const char* field, double& value) {
    const JsonNode* number = context.required(node, "a tolerance", field);
    if (number == nullptr) return;
    value = context.number(*number, std::string("\"") + field + "\"");
    if (value < 0 || value > 1)
      context.complain(number->line, std::string("\"") + field + "\" is out of range", "limits are between 0 and 1",
                       "correct it");
  };
  limit("rel_l2", tolerance.rel_l2);
  limit("max_rms", tolerance.max_rms);
  limit("max_rel", tolerance.max_rel);
  return tolerance;
}

bool matches(const std::string& pattern, const std::string& name) {
  const std::vector<std::string> a = components(pattern), b = components(name);
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const std::string& x, const std::string& y) { return x == "*" || x == y; });
}

void read_tolerances(ParseContext& context, const JsonNode& node, Task& task) {
  if (!context.object_of(node, "\"tolerances\"", {"output", "state", "tensors"})) return;
  if (const JsonNode* output = context.required(node, "\"tolerances\"", "output"))
    task.output_tolerance = read_tolerance(context, *output);
  if (const JsonNode* state = context.required(node, "\"tolerances\"", "state"))
    task.state_tolerance = read_tolerance(context, *state);
  const JsonMember* exceptions = node.find("tensors");
  if (exceptions == nullptr || !context.is(exceptions->value, JsonNode::Kind::object, "\"tensors\"")) return;
  for (const JsonMember& member : exceptions->value.members) {
    const Tolerance tolerance = read_tolerance(context, member.value);
    bool found = false;
    for (const Tensor& tensor : task.tensors) {
      if (is_const_in_args(tensor) || !matches(member.key, tensor.name)) continue;
      task.tensor_tolerance[tensor.name] = tolerance;
      found = true;
    }
    if (!found)
      context.complain(member.line, "the tolerance \"" + member.key + "\" matches no state or output",
                       "a key is a name or a pattern with * for one component", "correct the key");
  }
}

// All variants are checked; the one asked for replaces the file's dims and sweep.
void read_variant(ParseContext& context, const JsonNode& root, const std::string& wanted, Task& task) {
  const JsonMember* variants = root.find("variants");
  std::string known = kFull;
  bool found = wanted == kFull;
  if (variants != nullptr && context.is(variants->value, JsonNode::Kind::object, "\"variants\"")) {
    for (const JsonMember& member : variants->value.members) {
      known += ", " + member.key;
      if (!context.object_of(member.value, "a variant", {"title", "dims", "sweep"})) return;
      if (!is_identifier(member.key) || member.key == kFull)
        context.complain(member.line, "\"" + member.key + "\" cannot be a variant",
                         "a variant is an identifier other than full", "rename it");
      Task other = task;
      if (const JsonMember* dims = member.value.find("dims")) read_dims(context, dims->value, true, other);
      if (const JsonMember* title = member.value.find("title")) other.title = context.text(title->value, "\"title\"");
      const Names names(other.dims.begin(), other.dims.end());
      if (const JsonMember* sweep = member.value.find("sweep")) other.sweep = read_sweep(context, sweep->value, names);
      if (member.key != wanted) continue;
      task = std::move(other);
      found = true;
    }
  }
  if (!found)
    context.complain(variants == nullptr ? root.line : variants->line, "no variant is named \"" + wanted + "\"",
                     "a variant is one of " + known, "choose one of these");
}

void read_words(ParseContext& context, const JsonNode& root, Task& task) {
  const auto words = [&](const char* field, std::string& value) {
    if (const JsonNode* node = context.required(root, "a task", field))
      value = context.paragraph(*node, std::string("\"") + field + "\"");
  };
  std::string format;
  words("format", format);
  if (!context.failed() && format != kFormat)
    context.complain(root.find("format")->line, "the format is \"" + format + "\"",
                     std::string("this program reads ") + kFormat, "correct the field, or use a matching version");
  words("name", task.name);
  if (!context.failed() && !is_identifier(task.name))
    context.complain(root.find("name")->line, "\"" + task.name + "\" cannot be a task's name",
                     "a name has letters, digits and _", "rename it");
  words("title", task.title);
  words("prose", task.prose);
  words("rules", task.rules);
}

void read_task(ParseContext& context, const JsonNode& root, Task& task) {
  if (!context.object_of(root, "a task",
                         {"format", "name", "title", "prose", "rules", "dims", "weights", "states", "inputs", "outputs",
                          "aliases", "blocks", "ops", "sweep", "tolerances", "variants"}))
    return;
  read_words(context, root, task);
  if (const JsonNode* dims = context.required(root, "a task", "dims")) read_dims(context, *dims, false, task);
  if (context.failed()) return;
  const Names own(task.dims.begin(), task.dims.end());
  if (const JsonNode* sweep = context.required(root, "a task", "sweep")) task.sweep = read_sweep(context, *sweep, own);
  read_variant(context, root, task.variant, task);
  if (context.failed()) return;
  const Names dims(task.dims.begin(), task.dims.end());
  Lines lines;
  parse_tensors(context, root, dims, task, lines);
  if (context.failed()) return;
  if (const JsonNode* tolerances = context.required(root, "a task", "tolerances"))
    read_tolerances(context, *tolerances, task);
  parse_ops(context, root, dims, task, lines);
}

}  // namespace

Result<TaskOutline> outline_task(const std::string& json_text, const std::string& file) {
  const Result<JsonNode> root = read_json(json_text, file);
  if (!root) return because(root.error());
  ParseContext context(file);
  TaskOutline outline;
  outline.variants = {kFull};
  if (const JsonNode* name = context.required(*root, "a task", "name")) outline.name = context.text(*name, "\"name\"");
  if (const JsonNode* title = context.required(*root, "a task", "title"))
    outline.title = context.text(*title, "\"title\"");
  if (const JsonMember* variants = root->find("variants"))
    for (const JsonMember& member : variants->value.members) outline.variants.push_back(member.key);
  if (context.failed()) return tl::unexpected<Error>(context.error());
  return outline;
}

Result<Task> parse_task(const std::string& json_text, const std::string& file, const std::string& variant) {
  const Result<JsonNode> root = read_json(json_text, file);
  if (!root) return because(root.error());
  ParseContext context(file);
  Task task;
  task.variant = variant.empty() ? kFull : variant;
  task.sha256 = sha256_hex(json_text + "\n" + task.variant);
  read_task(context, *root, task);
  if (context.failed()) return tl::unexpected<Error>(context.error());
  const Result<void> shaped = infer_shapes(task);
  if (!shaped) return because(shaped.error(), file);
  return task;
}

}  // namespace onelaunch::tasks
