#pragma once
// The body of one function: scopes, labels and instructions.

#include <string_view>
#include <utility>
#include <vector>

#include "sandbox/emulator/ptx/lexer.h"
#include "sandbox/emulator/ptx/module.h"
#include "sandbox/emulator/ptx/scopes.h"
#include "sandbox/emulator/ptx/source_lines.h"

namespace onelaunch::emu::ptx {

class BodyParser {
 public:
  BodyParser(Lexer& lexer, SourceLines& lines, Module& module, Function& function)
      : lexer_(lexer), lines_(lines), module_(module), function_(function) {}

  // Behind the '{' of the body, to behind its '}'.
  void parse();

 private:
  void close_scope();
  void parse_statement();
  void parse_directive();
  void parse_local_variables(Space space, bool external);
  void parse_guard(Instruction& instruction);
  void parse_instruction(int guard_line);
  void parse_label(std::string_view name);
  void parse_branch_targets(const std::string& name);
  void split_opcode(std::string_view text, Instruction& instruction) const;
  void note_label_uses(const Instruction& instruction);
  void resolve(const std::vector<std::pair<LabelUse, std::string>>& resolved);

  Lexer& lexer_;
  SourceLines& lines_;
  Module& module_;
  Function& function_;
  Scopes scopes_;
  Instruction next_;    // keeps the guard until the opcode comes
  int location_ = -1;
};

}  // namespace onelaunch::emu::ptx
