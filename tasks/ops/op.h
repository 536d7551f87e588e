#pragma once
// The operations that a task is made of. Each kind brings its documentation, shape inference, a float64 evaluation, a
// FLOP count and the plain CUDA kernels of the eager baseline; everything else about a task is derived from these.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "tasks/task.h"

namespace onelaunch::tasks {

class OpRun;         // tasks/ops/run.h
class EagerBuilder;  // tasks/ops/eager_builder.h

// One input or output of an op, looked up by name.
struct Operand {
  std::string name;
  const Tensor* tensor = nullptr;        // a weight, state, input or output; else a result of an op, or:
  const Quantised* quantised = nullptr;  // an int4 weight; has no dtype and no shape
  DType dtype = DType::f32;
  std::vector<std::int64_t> shape;  // the first extent of a cache is kCapacity

  std::int64_t elements() const;  // not of a cache, not of an int4 weight
};

struct OpKind;

// One op with its operands resolved. Borrows the task.
struct OpView {
  const Task* task = nullptr;
  const Op* op = nullptr;
  const OpKind* kind = nullptr;
  std::vector<Operand> in, out;

  double attribute(const char* name) const;  // as given, else the kind's default
  std::int64_t count(const char* name) const { return static_cast<std::int64_t>(attribute(name)); }
};

struct Parameter {
  enum class Is { value, weight, int4_weight, state, cache };  // value: a result of an op, or an input of the task
  const char* name;
  Is is;
};

struct Attribute {
  const char* name;
  const char* documentation;
  bool required;
  double fallback;  // when not given and not required
  bool positive_integer;
};

struct OpKind {
  const char* name;
  const char* documentation;               // formulas and shapes, in one or two sentences
  std::vector<Parameter> inputs, outputs;  // a state among the outputs is updated in place
  std::vector<Attribute> attributes;

  // dtype and shape of every output; for a state, what it must have. Errors say which rule is broken.
  Result<std::vector<Value>> (*infer)(const OpView&) = nullptr;
  // Writes all outputs. The caller rounds results as the op says; the op itself rounds the states that it writes.
  void (*evaluate)(OpRun&) = nullptr;
  // Multiplications and additions of one token with `context` tokens cached before it.
  double (*flops)(const OpView&, std::int64_t context) = nullptr;
  // How many experts of the int4 weights a token uses; null: all.
  std::int64_t (*experts_used)(const OpView&) = nullptr;
  void (*eager)(const OpView&, EagerBuilder&) = nullptr;
  bool chooses = false;  // its result hangs on an order that an error could flip; sets OpRun::margin
};

std::span<const OpKind> op_kinds();
const OpKind* find_op(const std::string& kind);  // null when there is none

// All kinds as Markdown; tasks/ops/OPS.md is this text.
std::string op_reference();

// Checks every op and fills task.values. Errors begin with "line N: op NAME (KIND): ".
Result<void> infer_shapes(Task& task);

// The op's operands. Only after infer_shapes() accepted the task.
OpView view_of(const Task& task, const Op& op);

}  // namespace onelaunch::tasks
