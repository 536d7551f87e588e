#include "sandbox/emulator/ptx/declarations.h"

#include <bit>
#include <cstring>
#include <string>

#include "sandbox/emulator/ptx/operands.h"
#include "sandbox/emulator/ptx/types.h"

namespace onelaunch::emu::ptx {
namespace {

constexpr std::size_t kBytesMax = std::size_t{1} << 32;

struct ElementType {
  std::string_view name;
  std::size_t bytes = 0, alignment = 0;
};

// ".align 16 .v4 .f32", ".u64 .ptr .global .align 8": attributes in any order until the name.
ElementType parse_type(Lexer& lexer) {
  ElementType type;
  std::size_t lanes = 1, alignment = 0;
  bool pointer = false;
  while (lexer.at_directive()) {
    const int line = lexer.line();
    const std::string_view word = lexer.take().text.substr(1);
    if (word == "align") {
      const auto value = static_cast<std::size_t>(lexer.expect_integer());
      if (!std::has_single_bit(value)) lexer.fail(line, "an alignment must be a power of two");
      if (!pointer) alignment = value;  // of .ptr: what it points to
    } else if (word == "v2" || word == "v4") {
      lanes = static_cast<std::size_t>(word[1] - '0');
    } else if (word == "ptr") {
      pointer = true;
    } else if (type_bytes(word) != 0) {
      type.name = word;
      type.bytes = type_bytes(word);
    } else if (!pointer || (word != "global" && word != "const" && word != "shared" && word != "local")) {
      lexer.fail(line, "declaration attribute ." + std::string(word) + " is not implemented");
    }
  }
  if (type.bytes == 0) lexer.fail(lexer.line(), "a declaration without a type");
  type.bytes *= lanes;
  type.alignment = alignment == 0 ? type.bytes : alignment;
  return type;
}

class Initialiser {
 public:
  Initialiser(Lexer& lexer, Variable& variable, std::size_t element) :
      lexer_(lexer), variable_(variable), element_(element) {}

  void read() {
    if (lexer_.accept('{')) {
      while (!lexer_.at_end() && !lexer_.accept('}')) {
        read();
        if (!lexer_.at('}')) lexer_.expect(',');
      }
    } else if (lexer_.at_word()) {
      read_reference();
    } else {
      Operand number = parse_number(lexer_);
      // A decimal such as 1.5 was read as a double.
      if (number.kind == Operand::Kind::real && number.wide && element_ == 4) {
        number.value = std::bit_cast<std::uint32_t>(static_cast<float>(std::bit_cast<double>(number.value)));
      }
      put(&number.value);
    }
  }

 private:
  void read_reference() {
    const int line = lexer_.line();
    std::string_view symbol = lexer_.expect_word();
    if (symbol == "generic") {  // generic and global addresses are the same here
      lexer_.expect('(');
      symbol = lexer_.expect_word();
      lexer_.expect(')');
    }
    if (element_ != 8) return lexer_.fail(line, "an address needs a 64-bit element");
    std::int64_t addend = 0;
    if (lexer_.at('+') || lexer_.at('-')) addend = static_cast<std::int64_t>(parse_number(lexer_).value);
    variable_.references.push_back({next_, std::string(symbol), addend});
    const std::uint64_t nothing = 0;
    put(&nothing);
  }
  void put(const std::uint64_t* value) {
    if (next_ + element_ > variable_.bytes || element_ > sizeof *value) {
      return lexer_.fail(lexer_.line(), "the initialiser of " + variable_.name + " does not fit");
    }
    std::memcpy(variable_.initial.data() + next_, value, element_);
    next_ += element_;
  }

  Lexer& lexer_;
  Variable& variable_;
  std::size_t element_, next_ = 0;
};

Variable parse_one(Lexer& lexer, const ElementType& type, Space space, bool external) {
  Variable variable;
  variable.space = space;
  variable.external = external;
  variable.alignment = type.alignment;
  variable.bytes = type.bytes;
  variable.name = lexer.expect_word();
  bool unsized = false;
  while (lexer.accept('[')) {
    if (lexer.accept(']')) {
      unsized = true;
      continue;
    }
    const int line = lexer.line();
    const std::uint64_t count = parse_number(lexer).value;
    if (count > kBytesMax || variable.bytes * count > kBytesMax) lexer.fail(line, variable.name + " is too large");
    variable.bytes *= count;
    lexer.expect(']');
  }
  if (unsized) variable.bytes = 0;
  if (lexer.accept('=')) {
    variable.initial.resize(variable.bytes);
    Initialiser(lexer, variable, type_bytes(type.name)).read();
  }
  return variable;
}

void declare(Lexer& lexer, Scopes& scopes, std::vector<Register>& registers, std::string_view type) {
  constexpr long long kCountMax = 1 << 20;
  const int line = lexer.line();
  const std::string_view name = lexer.expect_word();
  const auto first = static_cast<int>(registers.size());
  if (!lexer.accept('<')) {
    scopes.declare_register(name, first);
    registers.push_back({std::string(name), std::string(type)});
    return;
  }
  const long long count = lexer.expect_integer();
  lexer.expect('>');
  if (count < 0 || count > kCountMax) return lexer.fail(line, "too many registers");
  scopes.declare_registers(name, static_cast<int>(count), first);
  for (long long i = 0; i < count; ++i) {
    registers.push_back({std::string(name) + std::to_string(i), std::string(type)});
  }
}

}  // namespace

void parse_variables(Lexer& lexer, Space space, bool external, std::vector<Variable>& variables) {
  const ElementType type = parse_type(lexer);
  do {
    variables.push_back(parse_one(lexer, type, space, external));
  } while (lexer.accept(','));
}

Variable parse_parameter(Lexer& lexer) {
  const ElementType type = parse_type(lexer);
  return parse_one(lexer, type, Space::param, false);
}

void parse_registers(Lexer& lexer, Scopes& scopes, std::vector<Register>& registers) {
  const int line = lexer.line();
  const std::string_view word = lexer.expect_word();
  const std::string_view type = word.empty() ? word : word.substr(1);
  if (type != "pred" && type_bytes(type) == 0) {
    return lexer.fail(line, "registers of type " + std::string(word) + " are not implemented");
  }
  do {
    declare(lexer, scopes, registers, type);
  } while (lexer.accept(','));
  lexer.expect(';');
}

}  // namespace onelaunch::emu::ptx
