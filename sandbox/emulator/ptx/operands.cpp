#include "sandbox/emulator/ptx/operands.h"

#include <bit>
#include <charconv>
#include <cstdlib>
#include <string>

namespace onelaunch::emu::ptx {
namespace {

bool read_digits(std::string_view digits, int base, std::uint64_t& value) {
  if (!digits.empty() && (digits.back() == 'U' || digits.back() == 'u')) digits.remove_suffix(1);
  const auto [end, status] = std::from_chars(digits.data(), digits.data() + digits.size(), value, base);
  return status == std::errc() && end == digits.data() + digits.size();
}

bool read_literal(std::string_view text, Operand& operand) {
  operand.kind = Operand::Kind::integer;
  const char second = text.size() > 1 && text[0] == '0' ? text[1] : '\0';
  if (second == 'f' || second == 'F' || second == 'd' || second == 'D') {
    operand.kind = Operand::Kind::real;
    operand.wide = second == 'd' || second == 'D';
    return text.size() == (operand.wide ? 18u : 10u) && read_digits(text.substr(2), 16, operand.value);
  }
  if (second == 'x' || second == 'X') return read_digits(text.substr(2), 16, operand.value);
  if (second == 'b' || second == 'B') return read_digits(text.substr(2), 2, operand.value);
  if (text.find_first_of(".eE") != std::string_view::npos) {
    operand.kind = Operand::Kind::real;
    operand.wide = true;
    const std::string copy(text);
    char* end = nullptr;
    operand.value = std::bit_cast<std::uint64_t>(std::strtod(copy.c_str(), &end));
    return *end == '\0';
  }
  return read_digits(text, second == '\0' ? 10 : 8, operand.value);
}

void negate(Operand& operand) {
  if (operand.kind == Operand::Kind::real) {
    operand.value ^= operand.wide ? 1ull << 63 : 1ull << 31;
  } else {
    operand.value = 0 - operand.value;
  }
}

// "+4", "-4", "+-4", repeated; 0 when there is none.
std::int64_t parse_offset(Lexer& lexer) {
  std::int64_t offset = 0;
  while (lexer.at('+') || lexer.at('-')) {
    const bool minus = lexer.take().text == "-";
    const Operand number = parse_number(lexer);
    const auto value = static_cast<std::int64_t>(number.value);
    offset += minus ? -value : value;
  }
  return offset;
}

Operand parse_name(Lexer& lexer, const Scopes& scopes) {
  const int line = lexer.line();
  const std::string_view name = lexer.expect_word();
  Operand operand;
  if (name == "_") return operand;
  operand.index = scopes.find_register(name);
  if (operand.index >= 0) {
    operand.kind = Operand::Kind::reg;
  } else if (name == "WARP_SZ") {
    operand.kind = Operand::Kind::integer;
    operand.value = 32;
  } else if (!name.empty() && name[0] == '%') {
    operand.kind = Operand::Kind::special;
    operand.name = name;
  } else if (!name.empty() && name[0] == '.') {
    lexer.fail(line, quoted(name) + " is no operand");
  } else {
    operand.kind = Operand::Kind::symbol;
    operand.name = name;
    if (const std::string* const variable = scopes.find_variable(operand.name)) operand.name = *variable;
    operand.offset = parse_offset(lexer);
  }
  return operand;
}

Operand parse_list(Lexer& lexer, const Scopes& scopes, char open, char close) {
  Operand list;
  list.kind = Operand::Kind::vector;
  lexer.expect(open);
  if (lexer.accept(close)) return list;
  do {
    list.elements.push_back(parse_operand(lexer, scopes));
  } while (lexer.accept(','));
  lexer.expect(close);
  return list;
}

Operand parse_address(Lexer& lexer, const Scopes& scopes) {
  Operand address;
  lexer.expect('[');
  if (lexer.at_word()) {
    address = parse_name(lexer, scopes);
    if (address.kind == Operand::Kind::special) lexer.fail(lexer.line(), quoted(address.name) + " is not declared");
    if (address.kind == Operand::Kind::reg) address.offset = parse_offset(lexer);
  } else {
    address.offset = static_cast<std::int64_t>(parse_number(lexer).value) + parse_offset(lexer);
  }
  if (lexer.accept(',')) address.elements = parse_list(lexer, scopes, '{', '}').elements;  // tensor coordinates
  lexer.expect(']');
  address.kind = Operand::Kind::address;
  return address;
}

Operand parse_single(Lexer& lexer, const Scopes& scopes) {
  if (lexer.at('[')) return parse_address(lexer, scopes);
  if (lexer.at('{')) return parse_list(lexer, scopes, '{', '}');
  if (lexer.at('(')) return parse_list(lexer, scopes, '(', ')');
  if (lexer.accept('!')) {
    Operand operand = parse_name(lexer, scopes);
    operand.negated = true;
    return operand;
  }
  if (lexer.at_word()) return parse_name(lexer, scopes);
  return parse_number(lexer);
}

}  // namespace

Operand parse_number(Lexer& lexer) {
  bool minus = false;
  while (lexer.at('-') || lexer.at('+')) minus ^= lexer.take().text == "-";
  const Token token = lexer.take();
  Operand operand;
  if (token.kind != Token::Kind::number || !read_literal(token.text, operand)) {
    lexer.fail(token.line, quoted(token.text) + " is no number");
  }
  if (minus) negate(operand);
  return operand;
}

Operand parse_operand(Lexer& lexer, const Scopes& scopes) {
  Operand first = parse_single(lexer, scopes);
  if (!lexer.accept('|')) return first;
  Operand pair;
  pair.kind = Operand::Kind::vector;
  pair.is_pair = true;
  pair.elements.push_back(std::move(first));
  pair.elements.push_back(parse_single(lexer, scopes));
  return pair;
}

}  // namespace onelaunch::emu::ptx
