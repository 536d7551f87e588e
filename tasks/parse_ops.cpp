#include "tasks/parse_ops.h"

#include <set>

namespace onelaunch::tasks {
namespace {

constexpr int kUseDepthMax = 8;

class OpReader {
 public:
  OpReader(ParseContext& context, const JsonNode& root, Task& task) : context_(context), task_(task) {
    if (const JsonMember* member = root.find("blocks")) blocks(member->value);
  }

  void aliases(const JsonNode& node, const Names& names) {
    if (!context_.is(node, JsonNode::Kind::object, "\"aliases\"")) return;
    for (const JsonMember& member : node.members) {
      const Result<std::string> alias = substitute(member.key, names);
      const std::string target = context_.name(member.value, names, "an alias's tensor");
      if (!alias)
        context_.complain(member.line, "the alias \"" + member.key + "\" cannot be filled in: " + alias.error().message,
                          "braces hold an expression over dims", "correct the expression");
      else if (task_.find(target) == nullptr)
        context_.complain(member.line, "the alias \"" + *alias + "\" names no tensor: \"" + target + "\"",
                          "an alias is another name of a tensor", "name a tensor of this file");
      else if (is_taken(*alias) || !aliases_.emplace(*alias, target).second)
        context_.complain(member.line, "\"" + *alias + "\" is a name already", "an alias is a new name",
                          "choose another");
    }
  }

  void list(const JsonNode& node, const Names& names, const std::string& what, int depth) {
    context_.entries(node, names, what, [&](const JsonNode& entry, const Names& inner) {
      if (entry.kind == JsonNode::Kind::object && entry.find("use") != nullptr)
        use(entry, inner, depth);
      else
        op(entry, inner);
    });
  }

  // What an op must have done by the end: every output is written, every tensor is used.
  void finish(const Lines& lines) {
    for (const Tensor& tensor : task_.tensors) {
      if (context_.failed()) return;
      const auto line = lines.find(tensor.name);
      const int at = line == lines.end() ? 1 : line->second;
      if (tensor.role == Role::output && !written_.contains(tensor.name))
        context_.complain(at, "no op writes the output \"" + tensor.name + "\"", "every output is written by one op",
                          "add the op");
      const std::string owner = tensor.name.substr(0, tensor.name.rfind('.'));
      const bool in_triple = task_.find_quantised(owner) != nullptr && !owner.empty() && owner != tensor.name;
      if (!used_.contains(in_triple ? owner : tensor.name) && !written_.contains(tensor.name))
        context_.complain(at, "no op uses \"" + (in_triple ? owner : tensor.name) + "\"",
                          "every tensor is used by an op", "remove it, or name it in an op");
    }
  }

 private:
  void blocks(const JsonNode& node) {
    if (!context_.is(node, JsonNode::Kind::object, "\"blocks\"")) return;
    for (const JsonMember& member : node.members) blocks_[member.key] = &member.value;
  }

  void use(const JsonNode& entry, const Names& names, int depth) {
    if (!context_.object_of(entry, "a use of a block", {"use", "with"})) return;
    const std::string name = context_.text(entry.find("use")->value, "\"use\"");
    const auto block = blocks_.find(name);
    if (block == blocks_.end())
      return context_.complain(entry.line, "no block is named \"" + name + "\"", "\"use\" names a member of \"blocks\"",
                               "correct the name");
    if (depth == kUseDepthMax)
      return context_.complain(entry.line, "blocks that use each other more than 8 deep", "a block must not use itself",
                               "unroll it");
    // A block sees the dims and what "with" hands to it, not the indices around its use.
    Names inner(task_.dims.begin(), task_.dims.end());
    if (const JsonMember* with = entry.find("with")) {
      if (!context_.is(with->value, JsonNode::Kind::object, "\"with\"")) return;
      for (const JsonMember& member : with->value.members)
        inner[member.key] = context_.integer(member.value, names, "\"" + member.key + "\"");
    }
    list(*block->second, inner, "a block", depth + 1);
  }

  void op(const JsonNode& entry, const Names& names) {
    if (!context_.object_of(entry, "an op", {"kind", "in", "out", "attributes", "round", "name"})) return;
    Op op;
    op.line = entry.line;
    if (const JsonNode* kind = context_.required(entry, "an op", "kind")) op.kind = context_.text(*kind, "\"kind\"");
    if (const JsonNode* in = context_.required(entry, "an op", "in")) inputs(*in, names, op);
    if (const JsonNode* out = context_.required(entry, "an op", "out")) outputs(*out, names, op);
    if (const JsonNode* round = context_.required(entry, "an op", "round")) op.round_to = rounding(*round);
    if (const JsonMember* member = entry.find("attributes")) attributes(member->value, names, op);
    if (context_.failed()) return;
    const JsonMember* name = entry.find("name");
    op.name = name == nullptr ? op.outputs.front() : context_.name(name->value, names, "an op's name");
    if (!op_names_.insert(op.name).second)
      context_.complain(name == nullptr ? entry.line : name->line, "two ops are named \"" + op.name + "\"",
                        "an op's name (the first of \"out\" unless given) is unique", "give it another \"name\"");
    task_.ops.push_back(std::move(op));
  }

  void inputs(const JsonNode& list, const Names& names, Op& op) {
    if (!context_.is(list, JsonNode::Kind::array, "\"in\"")) return;
    for (const JsonNode& item : list.items) {
      const std::string name = resolve(context_.name(item, names, "an input"));
      const Tensor* tensor = task_.find(name);
      const bool readable = tensor != nullptr && (tensor->role != Role::output || written_.contains(name));
      if (!readable && task_.find_quantised(name) == nullptr && !results_.contains(name))
        context_.complain(item.line, "\"" + name + "\" is not known here",
                          "inputs are tensors, int4 weights, aliases, or results of earlier ops",
                          "correct the name or the order of the ops");
      used_.insert(name);
      op.inputs.push_back(name);
    }
  }

  void outputs(const JsonNode& list, const Names& names, Op& op) {
    if (!context_.is(list, JsonNode::Kind::array, "\"out\"")) return;
    if (list.items.empty())
      context_.complain(list.line, "an op without \"out\"", "an op writes something", "name its result");
    for (const JsonNode& item : list.items) {
      const std::string name = resolve(context_.name(item, names, "an output"));
      const Tensor* tensor = task_.find(name);
      const bool fixed = tensor != nullptr && is_fixed(*tensor);
      if (name.empty() || fixed || task_.find_quantised(name) != nullptr)
        context_.complain(item.line, "an op cannot write \"" + name + "\"", "ops write new results, outputs and states",
                          "choose another name");
      const bool state = tensor != nullptr && tensor->role == Role::state;
      if (!state && (!written_.insert(name).second || !results_.insert(name).second))
        context_.complain(item.line, "\"" + name + "\" is written a second time",
                          "a result or an output is written by one op", "choose another name");
      if (state) used_.insert(name);
      op.outputs.push_back(name);
    }
  }

  void attributes(const JsonNode& node, const Names& names, Op& op) {
    if (!context_.is(node, JsonNode::Kind::object, "\"attributes\"")) return;
    for (const JsonMember& member : node.members)
      op.attributes[member.key] =
          member.value.kind == JsonNode::Kind::number
              ? member.value.number
              : static_cast<double>(context_.integer(member.value, names, "\"" + member.key + "\""));
  }

  DType rounding(const JsonNode& node) {
    const std::string word = context_.text(node, "\"round\"");
    if (word == "f32") return DType::f32;
    if (word != "bf16")
      context_.complain(node.line, "\"round\" is \"" + word + "\"", "results are rounded to bf16 or f32",
                        "use one of these");
    return DType::bf16;
  }

  static bool is_fixed(const Tensor& tensor) { return tensor.role == Role::weight || tensor.role == Role::input; }
  bool is_taken(const std::string& name) const {
    return task_.find(name) != nullptr || task_.find_quantised(name) != nullptr;
  }
  std::string resolve(const std::string& name) const {
    const auto alias = aliases_.find(name);
    return alias == aliases_.end() ? name : alias->second;
  }

  ParseContext& context_;
  Task& task_;
  std::map<std::string, const JsonNode*> blocks_;
  std::map<std::string, std::string> aliases_;
  std::set<std::string> results_, written_, used_, op_names_;
};

}  // namespace

void parse_ops(ParseContext& context, const JsonNode& root, const Names& dims, Task& task, const Lines& lines) {
  OpReader reader(context, root, task);
  if (const JsonMember* aliases = root.find("aliases")) reader.aliases(aliases->value, dims);
  if (const JsonNode* ops = context.required(root, "a task", "ops")) reader.list(*ops, dims, "\"ops\"", 0);
  if (!context.failed()) reader.finish(lines);
}

}  // namespace onelaunch::tasks
