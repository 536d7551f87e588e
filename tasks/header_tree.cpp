#include "tasks/header_tree.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "tasks/parse_context.h"

namespace onelaunch::tasks {
namespace {

constexpr std::array<std::string_view, 6> kOwnMembers = {"position", "cache_capacity", "epoch",
                                                         "prepared", "sync",           "scratch"};

bool is_number(std::string_view word) {
  return !word.empty() && std::all_of(word.begin(), word.end(), [](char c) { return c >= '0' && c <= '9'; });
}

ArgsNode* member(ArgsNode& node, const std::string& name) {
  const auto found =
      std::find_if(node.members.begin(), node.members.end(), [&](const ArgsNode& m) { return m.name == name; });
  return found == node.members.end() ? nullptr : &*found;
}

// Adds one tensor; false when its path crosses a member of another kind.
bool insert(ArgsNode& root, const Tensor& tensor) {
  ArgsNode* node = &root;
  for (const std::string& word : components(tensor.name)) {
    if (node->leaf != nullptr) return false;
    if (!node->members.empty() && node->array != is_number(word)) return false;
    node->array = is_number(word);
    ArgsNode* next = member(*node, word);
    if (next == nullptr)
      next = &node->members.emplace_back(ArgsNode{.name = word, .leaf = nullptr, .array = false, .members = {}});
    node = next;
  }
  if (node->leaf != nullptr || !node->members.empty()) return false;
  node->leaf = &tensor;
  return true;
}

bool same_type(const ArgsNode& a, const ArgsNode& b) {
  if ((a.leaf == nullptr) != (b.leaf == nullptr) || a.array != b.array) return false;
  if (a.leaf != nullptr)
    return a.leaf->dtype == b.leaf->dtype && is_const_in_args(*a.leaf) == is_const_in_args(*b.leaf);
  return std::equal(a.members.begin(), a.members.end(), b.members.begin(), b.members.end(),
                    [](const ArgsNode& x, const ArgsNode& y) { return x.name == y.name && same_type(x, y); });
}

const Tensor& any_leaf(const ArgsNode& node) {
  return node.leaf != nullptr ? *node.leaf : any_leaf(node.members.front());
}

void sort_arrays(ArgsNode& node) {
  const auto shorter_first = [](const ArgsNode& a, const ArgsNode& b) {
    return a.name.size() != b.name.size() ? a.name.size() < b.name.size() : a.name < b.name;
  };
  if (node.array) std::stable_sort(node.members.begin(), node.members.end(), shorter_first);
  for (ArgsNode& child : node.members) sort_arrays(child);
}

std::optional<NameConflict> array_conflict(const ArgsNode& node) {
  for (std::size_t i = 0; node.array && i < node.members.size(); ++i) {
    const Tensor& tensor = any_leaf(node.members[i]);
    if (node.members[i].name != std::to_string(i))
      return NameConflict{tensor.name, "element " + std::to_string(i) + " of \"" + node.name + "\" is missing",
                          "array indices in names run from 0 without gaps"};
    if (!same_type(node.members[0], node.members[i]))
      return NameConflict{tensor.name,
                          "element " + std::to_string(i) + " of \"" + node.name + "\" differs from element 0",
                          "all elements of an array have the same members, in the same order, with the same dtypes"};
  }
  for (const ArgsNode& child : node.members)
    if (auto conflict = array_conflict(child)) return conflict;
  return std::nullopt;
}

std::optional<NameConflict> word_conflict(const Tensor& tensor) {
  const std::vector<std::string> words = components(tensor.name);
  const auto conflict = [&](const std::string& what, const std::string& rule) {
    return NameConflict{tensor.name, what, rule};
  };
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (is_number(words[i])) {
      const bool canonical = words[i].size() < 6 && (words[i] == "0" || words[i][0] != '0');
      if (i == 0 || is_number(words[i - 1]) || !canonical)
        return conflict("\"" + tensor.name + "\" has an index in a wrong place",
                        "an index follows an identifier: kda.0.q");
    } else if (!is_identifier(words[i]) || words[i].front() == '_') {
      return conflict("\"" + words[i] + "\" is no identifier",
                      "a name consists of identifiers without a leading _ and indices, separated by dots");
    } else if (is_reserved_word(words[i])) {
      return conflict("\"" + words[i] + "\" is taken by C++ or CUDA", "names become members of a C++ struct");
    }
  }
  if (std::find(kOwnMembers.begin(), kOwnMembers.end(), words.front()) != kOwnMembers.end())
    return conflict("\"" + words.front() + "\" is a member that ol::Args already has",
                    "no name starts with position, cache_capacity, epoch, prepared, sync or scratch");
  return std::nullopt;
}

}  // namespace

std::vector<std::string> components(std::string_view name) {
  std::vector<std::string> words;
  while (true) {
    const std::size_t dot = name.find('.');
    words.emplace_back(name.substr(0, dot));
    if (dot == std::string_view::npos) return words;
    name.remove_prefix(dot + 1);
  }
}

bool is_reserved_word(std::string_view word) {
  static constexpr std::string_view kWords =
      " alignas alignof and and_eq asm auto bitand bitor bool break case catch char char8_t char16_t char32_t class "
      "compl "
      "concept const consteval constexpr constinit const_cast continue co_await co_return co_yield decltype default "
      "delete do "
      "double dynamic_cast else enum explicit export extern false float for friend goto if inline int long mutable "
      "namespace "
      "new noexcept not not_eq nullptr operator or or_eq private protected public register reinterpret_cast requires "
      "return "
      "short signed sizeof static static_assert static_cast struct switch template this thread_local throw true try "
      "typedef "
      "typeid typename union unsigned using virtual void volatile wchar_t while xor xor_eq NULL NAN INFINITY EOF linux "
      "unix ";
  return kWords.find(" " + std::string(word) + " ") != std::string_view::npos;
}

bool is_const_in_args(const Tensor& tensor) { return tensor.role == Role::weight || tensor.role == Role::input; }

bool is_int4(const ArgsNode& node) {
  static constexpr const char* kNames[] = {"packed", "scale", "zero"};
  static constexpr DType kTypes[] = {DType::u8, DType::bf16, DType::bf16};
  if (node.members.size() != 3 || node.array) return false;
  for (std::size_t i = 0; i < 3; ++i) {
    const ArgsNode& m = node.members[i];
    if (m.leaf == nullptr || m.name != kNames[i] || m.leaf->dtype != kTypes[i] || m.leaf->role != Role::weight)
      return false;
  }
  return true;
}

ArgsNode args_tree(const std::vector<const Tensor*>& tensors) {
  ArgsNode root;
  for (const Tensor* tensor : tensors) insert(root, *tensor);
  sort_arrays(root);
  return root;
}

std::optional<NameConflict> name_conflict(const std::vector<const Tensor*>& tensors) {
  ArgsNode root;
  for (const Tensor* tensor : tensors) {
    if (auto conflict = word_conflict(*tensor)) return conflict;
    if (!insert(root, *tensor))
      return NameConflict{
          tensor->name, "\"" + tensor->name + "\" collides with an earlier name",
          "a name is unique, and no name is a prefix of another: a member is a pointer, a struct or an array"};
  }
  sort_arrays(root);
  return array_conflict(root);
}

}  // namespace onelaunch::tasks
