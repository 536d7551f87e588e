#include "tasks/parse_tensors.h"

#include <cmath>

#include "tasks/header_tree.h"

namespace onelaunch::tasks {
namespace {

constexpr std::int64_t kExtentMax = std::int64_t{1} << 31;
constexpr std::int64_t kBytesMax = std::int64_t{1} << 40;
constexpr std::int64_t kGroup = 128;

struct Section {
  const char* field;
  const char* owner;
  Role role;
};
constexpr Section kSections[] = {{"weights", "a weight", Role::weight},
                                 {"states", "a state", Role::state},
                                 {"inputs", "an input", Role::input},
                                 {"outputs", "an output", Role::output}};

class TensorReader {
 public:
  TensorReader(ParseContext& context, Task& task, Lines& lines) : context_(context), task_(task), lines_(lines) {}

  void section(const JsonNode& list, const Section& section, const Names& dims) {
    context_.entries(list, dims, std::string("\"") + section.field + "\"",
                     [&](const JsonNode& entry, const Names& names) {
                       ++last_id_;
                       if (section.role == Role::weight && entry.find("int4") != nullptr)
                         quantised(entry, names);
                       else
                         plain(entry, section, names);
                     });
  }

 private:
  void plain(const JsonNode& entry, const Section& section, const Names& names) {
    const std::string owner = section.owner;
    const bool drawn = section.role != Role::output;
    if (drawn ? !context_.object_of(entry, owner, {"name", "dtype", "shape", "nominal", "strict"})
              : !context_.object_of(entry, owner, {"name", "dtype", "shape"}))
      return;
    Tensor tensor{.name = {},
                  .role = section.role,
                  .dtype = DType::f32,
                  .shape = {},
                  .nominal = {},
                  .strict = {},
                  .id = last_id_};
    if (const JsonNode* name = context_.required(entry, owner, "name"))
      tensor.name = context_.name(*name, names, "the name");
    if (const JsonNode* type = context_.required(entry, owner, "dtype")) tensor.dtype = dtype(*type);
    if (const JsonNode* extents = context_.required(entry, owner, "shape")) shape(*extents, names, tensor);
    if (drawn) distributions(entry, owner, names, tensor.nominal, tensor.strict);
    for (const Distribution* each : {&tensor.nominal, &tensor.strict}) {
      if (each->marked != 1 && section.role != Role::weight)
        context_.complain(entry.line, "marked channels of " + owner, "only weights have \"marked\" channels",
                          "leave it out");
      if (each->swing != 0 && section.role != Role::input)
        context_.complain(entry.line, "a swing of " + owner, "only inputs have a \"swing\"", "leave it out");
    }
    add(std::move(tensor), entry.line);
  }

  void quantised(const JsonNode& entry, const Names& names) {
    const std::string owner = "an int4 weight";
    if (!context_.object_of(entry, owner, {"name", "int4", "nominal", "strict"})) return;
    const JsonNode& matrix = entry.find("int4")->value;
    if (!context_.object_of(matrix, "\"int4\"", {"experts", "in", "out", "group"})) return;
    Quantised weight;
    weight.id = last_id_;
    if (const JsonNode* name = context_.required(entry, owner, "name"))
      weight.name = context_.name(*name, names, "the name");
    const auto extent_of = [&](const char* field) {
      const JsonNode* node = context_.required(matrix, "\"int4\"", field);
      return node == nullptr ? 1 : extent(*node, names);
    };
    weight.in = extent_of("in");
    weight.out = extent_of("out");
    weight.group = extent_of("group");
    const bool stacked = matrix.find("experts") != nullptr;
    if (stacked) weight.experts = extent_of("experts");
    if (weight.group != kGroup || weight.in % kGroup != 0)
      context_.complain(matrix.line,
                        "in = " + std::to_string(weight.in) + " with groups of " + std::to_string(weight.group),
                        "the group of an int4 weight is 128 and divides \"in\"", "choose other dims");
    distributions(entry, owner, names, weight.nominal, weight.strict);
    for (const Distribution* each : {&weight.nominal, &weight.strict})
      if ((each->marked != 1 && (each->marked != 0 || each->mean != 0)) || each->outlier != 1 || each->swing != 0)
        context_.complain(entry.line, "a marked factor, an outlier or a swing of " + owner,
                          "int4 weights may only have \"marked\": 0, with mean 0", "leave it out");
    if (context_.failed()) return;
    add_triple(weight, stacked, entry.line);
    lines_[weight.name] = entry.line;
    task_.quantised.push_back(std::move(weight));
  }

  void add_triple(const Quantised& weight, bool stacked, int line) {
    const auto part = [&](const char* name, DType type, std::int64_t rows) {
      Tensor tensor{.name = weight.name + name,
                    .role = Role::weight,
                    .dtype = type,
                    .shape = {},
                    .nominal = weight.nominal,
                    .strict = weight.strict,
                    .id = weight.id};
      if (stacked) tensor.shape.push_back(weight.experts);
      tensor.shape.insert(tensor.shape.end(), {rows, weight.out});
      add(std::move(tensor), line);
    };
    part(".packed", DType::u8, weight.in / 2);
    part(".scale", DType::bf16, weight.in / weight.group);
    part(".zero", DType::bf16, weight.in / weight.group);
  }

  void add(Tensor tensor, int line) {
    if (context_.failed()) return;
    if (lines_.contains(tensor.name))
      context_.complain(line, "\"" + tensor.name + "\" collides with an earlier name", "names are unique",
                        "rename one of the two");
    double bytes = static_cast<double>(element_bytes(tensor.dtype));
    for (const std::int64_t extent : tensor.shape) bytes *= std::abs(static_cast<double>(extent));
    if (bytes > static_cast<double>(kBytesMax))
      context_.complain(line, "\"" + tensor.name + "\" has more than 2^40 bytes", "a tensor has at most 2^40 bytes",
                        "use smaller dims");
    lines_.emplace(tensor.name, line);
    task_.tensors.push_back(std::move(tensor));
  }

  std::int64_t extent(const JsonNode& node, const Names& names) {
    const std::int64_t value = context_.integer(node, names, "an extent");
    if (value >= 1 && value <= kExtentMax) return value;
    context_.complain(node.line, "an extent of " + std::to_string(value), "extents are 1 to 2^31",
                      "correct the dims or the expression");
    return 1;
  }

  void shape(const JsonNode& node, const Names& names, Tensor& tensor) {
    if (!context_.is(node, JsonNode::Kind::array, "\"shape\"")) return;
    if (node.items.empty() || node.items.size() > 4)
      context_.complain(node.line, "a shape with " + std::to_string(node.items.size()) + " extents",
                        "a shape has 1 to 4 extents", "flatten or split the tensor");
    for (std::size_t i = 0; i < node.items.size(); ++i) {
      const JsonNode& item = node.items[i];
      const bool rows = item.kind == JsonNode::Kind::string && item.text == "capacity";
      if (rows && (tensor.role != Role::state || i != 0 || node.items.size() < 2))
        context_.complain(item.line, "\"capacity\" where no cache's rows are",
                          "\"capacity\" is the first of at least two extents of a state", "use a dim");
      tensor.shape.push_back(rows ? kCapacity : extent(item, names));
    }
  }

  DType dtype(const JsonNode& node) {
    const std::string word = context_.text(node, "\"dtype\"");
    for (const DType type : {DType::f32, DType::bf16, DType::u8, DType::i32})
      if (word == name_of(type)) return type;
    context_.complain(node.line, "unknown dtype \"" + word + "\"", "a dtype is f32, bf16, u8 or i32",
                      "use one of these");
    return DType::f32;
  }

  void distributions(const JsonNode& entry, const std::string& owner, const Names& names, Distribution& nominal,
                     Distribution& strict) {
    if (const JsonNode* node = context_.required(entry, owner, "nominal")) nominal = distribution(*node, names);
    const JsonMember* member = entry.find("strict");
    strict = member == nullptr ? nominal : distribution(member->value, names);
  }

  Distribution distribution(const JsonNode& node, const Names& names) {
    if (node.kind == JsonNode::Kind::string && node.text == "zero") return {};
    Distribution drawn;
    const bool constant = node.kind == JsonNode::Kind::object && node.find("constant") != nullptr;
    if (constant) {
      if (context_.object_of(node, "a constant distribution", {"constant"}))
        drawn.scale = finite(node.find("constant")->value);
      drawn.kind = Distribution::Kind::constant;
      return drawn;
    }
    if (node.kind != JsonNode::Kind::object || node.find("normal") == nullptr) {
      context_.complain(node.line, "no distribution", "values are {\"normal\": s}, {\"constant\": c} or \"zero\"",
                        "write one of these");
      return drawn;
    }
    if (!context_.object_of(node, "a normal distribution",
                            {"normal", "fan_in", "mean", "spread", "outlier", "marked", "swing"}))
      return drawn;
    drawn.kind = Distribution::Kind::normal;
    drawn.scale = finite(node.find("normal")->value);
    if (const JsonMember* fan_in = node.find("fan_in"))
      drawn.scale /= std::sqrt(static_cast<double>(extent(fan_in->value, names)));
    if (const JsonMember* mean = node.find("mean")) drawn.mean = finite(mean->value);
    if (const JsonMember* spread = node.find("spread")) drawn.spread = finite(spread->value);
    if (const JsonMember* outlier = node.find("outlier")) drawn.outlier = finite(outlier->value);
    if (const JsonMember* marked = node.find("marked")) drawn.marked = finite(marked->value);
    if (const JsonMember* swing = node.find("swing")) drawn.swing = finite(swing->value);
    if (drawn.swing < 0 || drawn.swing > 16)
      context_.complain(node.line, "a swing outside 0 to 16", "the swing is 0 to 16", "correct the number");
    if (drawn.scale < 0 || drawn.spread < 0 || drawn.spread > 16)
      context_.complain(node.line, "a negative scale, or a spread outside 0 to 16",
                        "the scale is positive and the spread 0 to 16", "correct the number");
    return drawn;
  }

  double finite(const JsonNode& node) {
    const double value = context_.number(node, "a parameter of a distribution");
    if (std::abs(value) <= 1e30) return value;
    context_.complain(node.line, "a parameter beyond 1e30", "parameters of distributions are at most 1e30",
                      "use a smaller one");
    return 0;
  }

  ParseContext& context_;
  Task& task_;
  Lines& lines_;
  std::uint32_t last_id_ = 0;
};

void check_names(ParseContext& context, const Task& task, const Lines& lines) {
  std::vector<const Tensor*> all;
  for (const Tensor& tensor : task.tensors) all.push_back(&tensor);
  if (const auto conflict = name_conflict(all))
    context.complain(lines.at(conflict->tensor), conflict->what, conflict->rule, "rename the tensor");
}

}  // namespace

void parse_tensors(ParseContext& context, const JsonNode& root, const Names& dims, Task& task, Lines& lines) {
  TensorReader reader(context, task, lines);
  for (const Section& section : kSections) {
    const JsonNode* list = context.required(root, "a task", section.field);
    if (list != nullptr) reader.section(*list, section, dims);
  }
  if (context.failed()) return;
  if (task.with(Role::input).empty())
    context.complain(root.find("inputs")->line, "no input", "a task has at least one input, the token", "add one");
  if (task.with(Role::output).empty())
    context.complain(root.find("outputs")->line, "no output", "a task has at least one output", "add one");
  check_names(context, task, lines);
}

}  // namespace onelaunch::tasks
