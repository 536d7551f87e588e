#include "tasks/header.h"

#include "tasks/header_text.h"
#include "tasks/header_tree.h"

namespace onelaunch::tasks {
namespace {

constexpr std::size_t kWord = 8;

std::string pointer_type(const Tensor& tensor) {
  std::string type;
  switch (tensor.dtype) {
    case DType::f32:
      type = "float";
      break;
    case DType::bf16:
      type = "bf16";
      break;
    case DType::u8:
      type = "unsigned char";
      break;
    case DType::i32:
      type = "int";
      break;
  }
  return (is_const_in_args(tensor) ? "const " : "") + type + "*";
}

std::string shape_comment(const Tensor& tensor) {
  std::string text;
  for (const std::int64_t extent : tensor.shape)
    text += (text.empty() ? "" : ", ") + (extent == kCapacity ? "cache_capacity" : std::to_string(extent));
  return "  // [" + text + "]";
}

// The declarations of a struct's members. A member that is a struct of its own gets the type NAME_t.
std::string declarations(const ArgsNode& node, const std::string& indent) {
  std::string text;
  for (const ArgsNode& member : node.members) {
    const ArgsNode& element = member.array ? member.members.front() : member;
    const std::string extent = member.array ? "[" + std::to_string(member.members.size()) + "]" : "";
    const std::string declared = member.name + extent + ";";
    if (element.leaf != nullptr) {
      text += indent + pointer_type(*element.leaf) + " " + declared + shape_comment(*element.leaf) + "\n";
    } else if (is_int4(element)) {
      text += indent + "Int4 " + declared + shape_comment(*element.members[0].leaf) + "\n";
    } else {
      text += indent + "struct " + member.name + "_t {\n" + declarations(element, indent + "  ") + indent + "};\n";
      text += indent + member.name + "_t " + declared + "\n";
    }
  }
  return text;
}

std::vector<const Tensor*> members_of(const Task& task, bool weights_only) {
  std::vector<const Tensor*> members;
  for (const Tensor& tensor : task.tensors)
    if (!weights_only || tensor.role == Role::weight) members.push_back(&tensor);
  return members;
}

std::string dims(const Task& task) {
  std::string text = "namespace ol::dim {\n";
  for (const auto& [name, value] : task.dims)
    text += "constexpr long long " + name + " = " + std::to_string(value) + ";\n";
  return text + "}  // namespace ol::dim\n";
}

std::string structs(const Task& task) {
  return "namespace ol {\n\n"
         "// A linear weight in int4: w = bf16((q - zero) * scale) in groups of 128 along `in`.\n"
         "struct Int4 {\n"
         "  const unsigned char* packed;  // (experts,) in/2, out; even k in the low nibble\n"
         "  const bf16* scale;            // (experts,) in/128, out\n"
         "  const bf16* zero;             // (experts,) in/128, out\n"
         "};\n\n"
         "struct Args {\n" +
         declarations(args_tree(members_of(task, false)), "  ") +
         "  long long position;             // tokens cached before this one: the row that a cache gains\n"
         "  long long cache_capacity;       // rows that a cache has room for\n"
         "  unsigned long long epoch;       // launches since `sync` was all zero\n"
         "  const unsigned char* prepared;  // what the prepare kernels wrote\n"
         "  unsigned char* sync;            // kept from launch to launch\n"
         "  unsigned char* scratch;         // undefined at every launch\n"
         "};\n\n"
         "struct PrepareArgs {\n" +
         declarations(args_tree(members_of(task, true)), "  ") +
         "  unsigned char* prepared;\n"
         "};\n\n"
         "}  // namespace ol\n";
}

// Structs hold nothing but 8-byte words, so the offset of a member is the number of words before it.
void place(const ArgsNode& node, ArgsLayout& layout) {
  if (node.leaf != nullptr) {
    layout.pointers[node.leaf->name] = layout.bytes;
    layout.bytes += kWord;
  }
  for (const ArgsNode& member : node.members) place(member, layout);
}

std::size_t next_word(ArgsLayout& layout) {
  const std::size_t offset = layout.bytes;
  layout.bytes += kWord;
  return offset;
}

}  // namespace

std::string candidate_header(const Task& task, Build build) {
  const std::string marks = build == Build::profile ? k_profile : build == Build::probe ? k_probe : "";
  return "// <onelaunch.cuh> (onelaunch.candidate/1) for the task " + task.name + ", variant " + task.variant +
         ". Generated: do not edit.\n#pragma once\n#include <cuda_bf16.h>\n\n" + marks + k_launch + "\n" + dims(task) + "\n" +
         structs(task) + "\n" + k_barrier + "\n" + k_loads;
}

ArgsLayout args_layout(const Task& task) {
  ArgsLayout layout;
  place(args_tree(members_of(task, false)), layout);
  layout.position = next_word(layout);
  layout.cache_capacity = next_word(layout);
  layout.epoch = next_word(layout);
  layout.prepared = next_word(layout);
  layout.sync = next_word(layout);
  layout.scratch = next_word(layout);
  return layout;
}

ArgsLayout prepare_args_layout(const Task& task) {
  ArgsLayout layout;
  place(args_tree(members_of(task, true)), layout);
  layout.prepared = next_word(layout);
  return layout;
}

}  // namespace onelaunch::tasks
