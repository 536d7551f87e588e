#include "sandbox/emulator/ptx/body_parser.h"

#include "sandbox/emulator/ptx/declarations.h"
#include "sandbox/emulator/ptx/operands.h"

namespace onelaunch::emu::ptx {

void BodyParser::parse() {
  scopes_.open();
  while (scopes_.depth() > 0) {
    if (lexer_.at_end()) return lexer_.fail(lexer_.line(), "the body of " + function_.name + " never ends");
    parse_statement();
  }
  if (!scopes_.unresolved().empty()) {
    const LabelUse& use = scopes_.unresolved().front();
    lexer_.fail(use.line, "label " + use.label + " is not defined");
  }
}

void BodyParser::close_scope() {
  std::vector<std::pair<LabelUse, std::string>> resolved;
  scopes_.close(resolved);
  resolve(resolved);
}

void BodyParser::resolve(const std::vector<std::pair<LabelUse, std::string>>& resolved) {
  for (const auto& [use, name] : resolved) {
    if (use.name != nullptr) {
      *use.name = name;
    } else {
      function_.instructions[use.instruction].operands[use.operand].name = name;
    }
  }
}

void BodyParser::parse_statement() {
  if (lexer_.accept('{')) return scopes_.open();
  if (lexer_.accept('}')) return close_scope();
  if (lexer_.accept(';')) return;
  const int line = lexer_.line();
  next_ = Instruction{};
  if (lexer_.accept('@')) {
    parse_guard(next_);
    return parse_instruction(line);
  }
  if (lexer_.at_directive()) return parse_directive();
  parse_instruction(line);
}

void BodyParser::parse_guard(Instruction& instruction) {
  const int line = lexer_.line();
  instruction.guard_negated = lexer_.accept('!');
  const std::string_view name = lexer_.expect_word();
  instruction.guard = scopes_.find_register(name);
  if (instruction.guard < 0) lexer_.fail(line, "predicate " + std::string(name) + " is not declared");
}

void BodyParser::parse_directive() {
  const int line = lexer_.line();
  const std::string_view word = lexer_.take().text;
  if (word == ".loc") {
    location_ = lines_.read_location(lexer_, module_.locations, location_);
  } else if (word == ".reg") {
    parse_registers(lexer_, scopes_, function_.registers);
  } else if (word == ".shared") {
    parse_local_variables(Space::shared, false);
  } else if (word == ".local") {
    parse_local_variables(Space::local, false);
  } else if (word == ".param") {
    parse_local_variables(Space::param, false);
  } else if (word == ".extern") {
    if (!lexer_.accept(".shared")) lexer_.fail(line, ".extern inside a function is implemented for .shared only");
    parse_local_variables(Space::shared, true);
  } else if (word == ".pragma") {
    lexer_.skip_to(';');
  } else if (word == ".file") {
    lines_.read_file(lexer_, module_.files);
  } else {
    lexer_.fail(line, "directive " + std::string(word) + " is not implemented");
  }
}

void BodyParser::parse_local_variables(Space space, bool external) {
  const std::size_t first = function_.variables.size();
  parse_variables(lexer_, space, external, function_.variables);
  lexer_.expect(';');
  for (std::size_t i = first; i < function_.variables.size(); ++i) {
    function_.variables[i].name = scopes_.declare_variable(function_.variables[i].name);
  }
}

void BodyParser::parse_label(std::string_view name) {
  const std::string unique = scopes_.declare_label(std::string(name));
  function_.labels[unique] = function_.instructions.size();
  const int line = lexer_.line();
  if (lexer_.accept(".branchtargets")) {
    parse_branch_targets(unique);
  } else if (lexer_.accept(".callprototype") || lexer_.accept(".calltargets")) {
    lexer_.fail(line, "calls through pointers are not implemented");
  }
}

void BodyParser::parse_branch_targets(const std::string& name) {
  const int line = lexer_.line();
  std::vector<std::string> labels;
  do {
    labels.emplace_back(lexer_.expect_word());
  } while (lexer_.accept(','));
  lexer_.expect(';');
  std::vector<std::string>& targets = function_.branch_targets[name];
  targets.resize(labels.size());
  for (std::size_t i = 0; i < labels.size(); ++i) {
    LabelUse use;
    use.name = &targets[i];
    use.label = labels[i];
    use.line = line;
    scopes_.use_label(std::move(use));
  }
}

void BodyParser::split_opcode(std::string_view text, Instruction& instruction) const {
  std::size_t dot = std::min(text.find('.'), text.size());
  instruction.opcode = text.substr(0, dot);
  while (dot < text.size()) {
    const std::size_t end = std::min(text.find('.', dot + 1), text.size());
    instruction.modifiers.emplace_back(text.substr(dot + 1, end - dot - 1));
    dot = end;
  }
}

void BodyParser::parse_instruction(int guard_line) {
  const Token word = lexer_.take();
  if (word.kind != Token::Kind::word) return lexer_.fail(word.line, "unexpected " + quoted(word.text));
  if (next_.guard < 0 && lexer_.accept(':')) return parse_label(word.text);
  next_.line = guard_line;
  next_.location = location_;
  split_opcode(word.text, next_);
  while (lexer_.at_directive()) next_.modifiers.emplace_back(lexer_.take().text.substr(1));
  if (!lexer_.accept(';')) {
    next_.operands.reserve(4);
    do {
      next_.operands.push_back(parse_operand(lexer_, scopes_));
    } while (lexer_.accept(','));
    lexer_.expect(';');
  }
  note_label_uses(next_);
  function_.instructions.push_back(std::move(next_));
}

void BodyParser::note_label_uses(const Instruction& instruction) {
  if (instruction.opcode != "bra" && instruction.opcode != "brx") return;
  for (std::size_t i = 0; i < instruction.operands.size(); ++i) {
    const Operand& operand = instruction.operands[i];
    if (operand.kind != Operand::Kind::symbol) continue;
    LabelUse use;
    use.instruction = function_.instructions.size();
    use.operand = i;
    use.label = operand.name;
    use.line = instruction.line;
    scopes_.use_label(std::move(use));
  }
}

}  // namespace onelaunch::emu::ptx
