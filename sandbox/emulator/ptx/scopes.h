#pragma once
// Names inside one function. Inline assembly opens nested scopes that declare the same registers and labels again at
// every inlined copy, so inner names are made unique: "LAB_WAIT" of scope 7 becomes "LAB_WAIT#7".

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace onelaunch::emu::ptx {

// Where a label is named before it may be known: patched when its scope closes.
struct LabelUse {
  std::string* name = nullptr;   // set for entries of .branchtargets (node-stable storage)
  std::size_t instruction = 0, operand = 0;
  std::string label;
  int line = 0;
};

class Scopes {
 public:
  void open();
  // Label uses that this scope resolved go to `resolved` with their unique names; the others move outwards.
  void close(std::vector<std::pair<LabelUse, std::string>>& resolved);
  bool in_function_scope() const { return scopes_.size() == 1; }
  std::size_t depth() const { return scopes_.size(); }

  void declare_register(std::string_view name, int index);
  void declare_registers(std::string_view prefix, int count, int first);  // prefix0 .. prefix(count-1)
  std::string declare_variable(const std::string& name);                   // returns the unique name
  std::string declare_label(const std::string& name);
  void use_label(LabelUse use) { scopes_.back().uses.push_back(std::move(use)); }

  int find_register(std::string_view name) const;                          // -1 when there is none
  const std::string* find_variable(const std::string& name) const;
  const std::vector<LabelUse>& unresolved() const { return unresolved_; }

 private:
  struct Range {
    std::string_view prefix;
    int count, first;
  };
  struct Scope {
    int id = 0;
    std::unordered_map<std::string_view, int> registers;  // views of the PTX text
    std::vector<Range> ranges;
    std::unordered_map<std::string, std::string> variables, labels;
    std::vector<LabelUse> uses;
  };
  std::string unique(const std::string& name) const;

  std::vector<Scope> scopes_;
  std::vector<LabelUse> unresolved_;
  int opened_ = 0;
};

}  // namespace onelaunch::emu::ptx
