#pragma once
// The members of ol::Args as a tree: dots in tensor names are structs, numbers are array indices.

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tasks/task.h"

namespace onelaunch::tasks {

struct ArgsNode {
  std::string name;              // empty at the root; "0", "1", ... of array elements
  const Tensor* leaf = nullptr;  // a pointer to this tensor; else a struct or an array
  bool array = false;
  std::vector<ArgsNode> members;  // of a struct in order of first appearance, or the elements of an array
};

// A name that cannot become a member, with the rule that it breaks.
struct NameConflict {
  std::string tensor, what, rule;
};

// Borrows the tensors.
ArgsNode args_tree(const std::vector<const Tensor*>& tensors);

// The first name that breaks a rule. args_tree() may be used when there is none.
std::optional<NameConflict> name_conflict(const std::vector<const Tensor*>& tensors);

std::vector<std::string> components(std::string_view name);

// A word that C++, CUDA's headers or the candidate header has taken.
bool is_reserved_word(std::string_view word);

// Kernels cannot write weights and inputs.
bool is_const_in_args(const Tensor& tensor);

// The tree has the members packed, scale and zero of an int4 weight at this node.
bool is_int4(const ArgsNode& node);

}  // namespace onelaunch::tasks
