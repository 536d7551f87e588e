#include <algorithm>
#include <cmath>
#include <set>

#include "base/check.h"
#include "tasks/ops/op.h"

namespace onelaunch::tasks {
namespace {

using Is = Parameter::Is;

std::string text_of(const std::vector<std::int64_t>& shape) {
  std::string text = "[";
  for (const std::int64_t extent : shape) {
    if (text.size() > 1) text += ", ";
    text += extent == kCapacity ? "capacity" : std::to_string(extent);
  }
  return text + "]";
}

const char* phrase(Is is) {
  switch (is) {
    case Is::value:
      return "a result or an input";
    case Is::weight:
      return "a weight";
    case Is::int4_weight:
      return "an int4 weight";
    case Is::state:
      return "a state that is no cache";
    case Is::cache:
      return "a cache (a state whose shape begins with capacity)";
  }
  OL_CHECK(false, "a parameter of no kind");
}

bool matches(const Operand& operand, Is is) {
  const Tensor* tensor = operand.tensor;
  switch (is) {
    case Is::value:
      return operand.quantised == nullptr &&
             (tensor == nullptr || tensor->role == Role::input || tensor->role == Role::output);
    case Is::weight:
      return tensor != nullptr && tensor->role == Role::weight;
    case Is::int4_weight:
      return operand.quantised != nullptr;
    case Is::state:
      return tensor != nullptr && tensor->role == Role::state && !tensor->is_cache();
    case Is::cache:
      return tensor != nullptr && tensor->is_cache();
  }
  return false;
}

// A comma-separated list of what a kind takes: "x, weight".
std::string names_of(const std::vector<Parameter>& parameters) {
  std::string text;
  for (const Parameter& parameter : parameters) text += (text.empty() ? "" : ", ") + std::string(parameter.name);
  return text;
}

Operand known_operand(const Task& task, const std::string& name) {
  Operand operand{.name = name, .shape = {}};
  if (const Tensor* tensor = task.find(name)) {
    operand.tensor = tensor;
    operand.dtype = tensor->dtype;
    operand.shape = tensor->shape;
  } else if (const Quantised* quantised = task.find_quantised(name)) {
    operand.quantised = quantised;
  } else if (const auto value = task.values.find(name); value != task.values.end()) {
    operand.dtype = value->second.dtype;
    operand.shape = value->second.shape;
  }
  return operand;
}

class Inference {
 public:
  explicit Inference(Task& task) : task_(task) {}

  Result<void> run() {
    task_.values.clear();
    for (const Op& op : task_.ops)
      if (Result<void> done = infer(op); !done)
        return because(done.error(), "line " + std::to_string(op.line) + ": op " + op.name + " (" + op.kind + ")");
    for (const Tensor* output : task_.with(Role::output))
      if (!written_.contains(output->name)) return invalid("the output " + output->name + " is written by no op");
    return {};
  }

 private:
  Result<void> infer(const Op& op) {
    const OpKind* kind = find_op(op.kind);
    if (kind == nullptr) return invalid("there is no op kind " + op.kind + "; there are " + all_kinds());
    OpView view{.task = &task_, .op = &op, .kind = kind, .in = {}, .out = {}};
    if (auto done = check_count("inputs", kind->inputs, op.inputs.size()); !done) return done;
    if (auto done = check_count("outputs", kind->outputs, op.outputs.size()); !done) return done;
    if (auto done = check_attributes(op, *kind); !done) return done;
    for (std::size_t i = 0; i < op.inputs.size(); ++i)
      if (auto done = resolve_input(op.inputs[i], kind->inputs[i], view); !done) return done;
    for (std::size_t i = 0; i < op.outputs.size(); ++i)
      if (auto done = resolve_output(op.outputs[i], kind->outputs[i], view); !done) return done;
    const Result<std::vector<Value>> values = kind->infer(view);
    if (!values) return because(values.error());
    OL_CHECK(values->size() == view.out.size(), "an op kind that does not infer all its outputs");
    for (std::size_t i = 0; i < view.out.size(); ++i)
      if (auto done = accept(view.out[i], (*values)[i]); !done) return done;
    return {};
  }

  static std::string all_kinds() {
    std::string text;
    for (const OpKind& kind : op_kinds()) text += (text.empty() ? "" : ", ") + std::string(kind.name);
    return text;
  }

  static Result<void> check_count(const char* what, const std::vector<Parameter>& wanted, std::size_t given) {
    if (given == wanted.size()) return {};
    return invalid("takes " + std::to_string(wanted.size()) + " " + what + " (" + names_of(wanted) + "), got " +
                   std::to_string(given));
  }

  static Result<void> check_attributes(const Op& op, const OpKind& kind) {
    for (const auto& [name, value] : op.attributes) {
      const auto known = std::find_if(kind.attributes.begin(), kind.attributes.end(),
                                      [&, wanted = name](const Attribute& a) { return wanted == a.name; });
      if (known == kind.attributes.end()) return invalid("has no attribute " + name);
      if (!std::isfinite(value)) return invalid("attribute " + name + " is not finite");
      if (known->positive_integer && (value < 1 || value > 1e9 || value != std::floor(value)))
        return invalid("attribute " + name + " must be a positive integer");
    }
    for (const Attribute& attribute : kind.attributes)
      if (attribute.required && !op.attributes.contains(attribute.name))
        return invalid("needs the attribute " + std::string(attribute.name) + ": " + attribute.documentation);
    return {};
  }

  Result<void> resolve_input(const std::string& name, const Parameter& parameter, OpView& view) const {
    Operand operand = known_operand(task_, name);
    const bool result = operand.tensor == nullptr && operand.quantised == nullptr;
    if (result && !task_.values.contains(name))
      return invalid("the input " + name + " is neither a tensor nor a result of an earlier op");
    if (operand.tensor != nullptr && operand.tensor->role == Role::output && !written_.contains(name))
      return invalid("reads the output " + name + " before an op has written it");
    if (!matches(operand, parameter.is))
      return invalid(std::string(parameter.name) + " must be " + phrase(parameter.is) + "; " + name + " is not");
    view.in.push_back(std::move(operand));
    return {};
  }

  Result<void> resolve_output(const std::string& name, const Parameter& parameter, OpView& view) const {
    Operand operand = known_operand(task_, name);
    if (written_.contains(name)) return invalid("writes " + name + ", which an earlier op writes already");
    const bool fresh = operand.tensor == nullptr && operand.quantised == nullptr;
    const bool output = operand.tensor != nullptr && operand.tensor->role == Role::output;
    if (parameter.is == Is::value ? !(fresh || output) : !matches(operand, parameter.is))
      return invalid(std::string(parameter.name) + " must be " +
                     (parameter.is == Is::value ? "a new result or an output" : phrase(parameter.is)) + "; " + name +
                     " is not");
    view.out.push_back(std::move(operand));
    return {};
  }

  Result<void> accept(const Operand& operand, const Value& value) {
    written_.insert(operand.name);
    if (operand.tensor == nullptr) {
      task_.values[operand.name] = value;
      return {};
    }
    if (operand.tensor->shape != value.shape)
      return invalid(operand.name + " has shape " + text_of(operand.tensor->shape) + ", the op gives " +
                     text_of(value.shape));
    if (operand.tensor->dtype != value.dtype)
      return invalid(operand.name + " is " + name_of(operand.tensor->dtype) + ", the op gives " + name_of(value.dtype));
    return {};
  }

  Task& task_;
  std::set<std::string> written_;
};

}  // namespace

std::int64_t Operand::elements() const {
  std::int64_t count = 1;
  for (const std::int64_t extent : shape) count *= extent;
  return count;
}

double OpView::attribute(const char* name) const {
  if (const auto given = op->attributes.find(name); given != op->attributes.end()) return given->second;
  for (const Attribute& attribute : kind->attributes)
    if (std::string(name) == attribute.name) return attribute.fallback;
  OL_CHECK(false, std::string("op kind ") + kind->name + " declares no attribute " + name);
}

Result<void> infer_shapes(Task& task) { return Inference(task).run(); }

OpView view_of(const Task& task, const Op& op) {
  OpView view{.task = &task, .op = &op, .kind = find_op(op.kind), .in = {}, .out = {}};
  OL_CHECK(view.kind != nullptr, "an op of unknown kind after inference");
  for (const std::string& name : op.inputs) view.in.push_back(known_operand(task, name));
  for (const std::string& name : op.outputs) view.out.push_back(known_operand(task, name));
  return view;
}

}  // namespace onelaunch::tasks
