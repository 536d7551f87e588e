#pragma once
// A task: what is computed, on which tensors, and what counts as right. Parsed from onelaunch.task/1 (tasks/FORMAT.md).
// Oracle, eager baseline, floor, header and the text that an agent reads are all derived from this one description.

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"

namespace onelaunch::tasks {

enum class DType { f32, bf16, u8, i32 };  // int4 weights are u8 buffers: two values a byte, even k in the low nibble
std::size_t element_bytes(DType dtype);
const char* name_of(DType dtype);

enum class Role { weight, state, input, output };

// nominal: comparable with public boards. strict: every part of the computation is visible in the output.
enum class InputSet { nominal, strict };

// In a shape: rows of a cache. Its value is the run's capacity, known when buffers are made.
constexpr std::int64_t kCapacity = -1;

// How a tensor's values are drawn (tasks/generator.h).
struct Distribution {
  enum class Kind { normal, constant, zero };
  Kind kind = Kind::zero;
  double scale = 0;  // standard deviation of normal, value of constant
  double mean = 0;   // of normal
  // Normal only: each slice along the first dimension (a head, a cache row) is multiplied by its own factor, drawn
  // log-uniformly between 2^-spread and 2^spread.
  double spread = 0;
  // Normal only: one element in 64 deviates so many times as much.
  double outlier = 1;
  // Normal weights only: elements of marked channels are multiplied by this, mean and all. Of each 128 channels one is
  // marked, the same one in all weights of a seed. Channels are a plain weight's last extent and an int4 weight's `in`;
  // of the latter they are multiplied by 0.
  double marked = 1;
  // Inputs only: a step's values are multiplied by a factor of their own between 2^-swing and 1.
  double swing = 0;

  bool operator==(const Distribution&) const = default;
};

// One buffer that a candidate sees. In its name, dots are nested structs and numbers are array indices of ol::Args:
// "kda.0.q.packed" is args.kda[0].q.packed.
struct Tensor {
  std::string name;
  Role role;
  DType dtype;
  std::vector<std::int64_t> shape;       // may hold kCapacity once
  Distribution nominal, strict;          // of states, inputs and plain weights; int4 members: see Quantised
  std::uint32_t id = 0;                  // the generator's counter word, unique but for the members of an int4 triple

  bool is_cache() const;                 // a state that appends one row a token
  std::int64_t elements(std::int64_t capacity) const;
  std::size_t bytes(std::int64_t capacity) const;
};

// A linear weight kept as int4: three buffers that are drawn together from one normal matrix (experts, in, out).
struct Quantised {
  std::string name;                      // "kda.0.q": its buffers are name.packed, name.scale, name.zero
  std::int64_t experts = 1, in = 0, out = 0, group = 128;
  Distribution nominal, strict;
  std::uint32_t id = 0;
};

// One operation. Its inputs and outputs name tensors or earlier results; kinds are listed in tasks/ops/op.h.
struct Op {
  std::string name;                      // "layer0.q"
  std::string kind;                      // "linear_int4"
  std::vector<std::string> inputs, outputs;
  std::map<std::string, double> attributes;
  DType round_to = DType::f32;           // what each float result is rounded to
  int line = 0;                          // in the task file
};

// An intermediate result; shapes are inferred by the ops.
struct Value {
  DType dtype = DType::f32;
  std::vector<std::int64_t> shape;
};

struct SweepPoint {
  std::int64_t context = 0;              // tokens cached before the first step
  int steps = 1;
};

// Limits on the error of one compared tensor, relative to the reference's root mean square (tasks/compare.h).
struct Tolerance {
  double rel_l2 = 0.02;
  double max_rms = 0.06;                 // |got - want| <= max_rms * rms(want) + max_rel * |want|
  double max_rel = 0.0078125;
};

struct Task {
  std::string name, variant, title, prose, rules;
  std::map<std::string, std::int64_t> dims;
  std::vector<Tensor> tensors;           // weights, states, inputs, outputs, in file order
  std::vector<Quantised> quantised;
  std::vector<Op> ops;
  std::map<std::string, Value> values;   // intermediates by name, filled by shape inference
  std::vector<SweepPoint> sweep;
  Tolerance output_tolerance, state_tolerance;
  std::map<std::string, Tolerance> tensor_tolerance;  // exceptions by tensor name
  std::string sha256;                    // of the file and variant
  std::string folder;                    // where the file lies; empty unless load_task() made this

  const Tensor* find(const std::string& tensor) const;
  const Quantised* find_quantised(const std::string& weight) const;
  std::vector<const Tensor*> with(Role role) const;
};

// `file` is only named in errors. Variant "" or "full" is the file's own dims. Errors name line and rule.
Result<Task> parse_task(const std::string& json_text, const std::string& file, const std::string& variant);

}  // namespace onelaunch::tasks
