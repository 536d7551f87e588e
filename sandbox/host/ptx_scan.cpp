#include "sandbox/host/ptx_scan.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <set>

#include "sandbox/host/ptx_globals.h"
#include "sandbox/host/ptx_tokens.h"

namespace onelaunch::sandbox {
namespace {

using Tokens = std::vector<std::string_view>;

bool has(const Tokens& tokens, std::string_view token) { return std::ranges::find(tokens, token) != tokens.end(); }

// What CUDA's own printf and assert call.
bool known_function(std::string_view name) { return name == "vprintf" || name == "__assertfail"; }

bool forbidden_register(std::string_view token) {
  return token == "%gridid" || token == "%clock" || token == "%clock_hi" || token == "%clock64" ||
         token.starts_with("%globaltimer") || token.starts_with("%pm");
}

bool forbidden_instruction(std::string_view token) {
  const std::string_view opcode = token.substr(0, token.find('.'));
  return opcode == "griddepcontrol" || opcode == "discard" || opcode == "applypriority" || opcode == "multimem" ||
         opcode == "brkpt" || opcode == "pmevent" || opcode == "nanosleep";
}

std::uint64_t number(std::string_view text) {
  int base = 10;
  if (text.starts_with("0x") || text.starts_with("0X")) text.remove_prefix(2), base = 16;
  while (!text.empty() && (text.back() == 'U' || text.back() == 'u')) text.remove_suffix(1);
  std::uint64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value, base);
  return value;
}

std::size_t element_bytes(const Tokens& tokens) {
  for (const auto& [type, bytes] : {std::pair{".b8", 1u}, {".u8", 1u}, {".s8", 1u}, {".b16", 2u}, {".u16", 2u},
                                    {".b32", 4u}, {".u32", 4u}, {".s32", 4u}, {".f32", 4u}, {".b64", 8u}, {".u64", 8u}, {".s64", 8u},
                                    {".f64", 8u}})
    if (has(tokens, type)) return bytes;
  return 0;
}

// `.const .align 8 .b8 ol_launch[64] = {1, 0, ...}` as 64-bit words; what is left out is zero.
std::vector<std::uint64_t> words_of(const Tokens& tokens) {
  const std::size_t size = element_bytes(tokens);
  if (size == 0) return {};
  const auto bracket = std::ranges::find(tokens, "[");
  std::uint64_t count = bracket != tokens.end() && bracket + 1 != tokens.end() ? number(*(bracket + 1)) : 1;
  count = std::min<std::uint64_t>(count, 1024);
  std::vector<unsigned char> bytes(static_cast<std::size_t>(count) * size);
  std::size_t at = 0;
  for (auto token = std::ranges::find(tokens, "{"); token != tokens.end() && at + size <= bytes.size(); ++token) {
    if (*token == "{" || *token == "," || *token == "}") continue;
    const std::uint64_t value = number(*token);
    std::memcpy(bytes.data() + at, &value, size);
    at += size;
  }
  std::vector<std::uint64_t> words(bytes.size() / sizeof(std::uint64_t));
  if (!words.empty()) std::memcpy(words.data(), bytes.data(), words.size() * sizeof(std::uint64_t));
  return words;
}

// Of all parameters of an entry together, without padding between them.
std::uint64_t parameter_bytes(const Tokens& head) {
  std::uint64_t total = 0;
  for (auto at = std::ranges::find(head, ".param"); at != head.end();) {
    const auto next = std::find(at + 1, head.end(), ".param");
    const Tokens one(at, next);
    const auto bracket = std::ranges::find(one, "[");
    total += element_bytes(one) * (bracket != one.end() && bracket + 1 != one.end() ? number(*(bracket + 1)) : 1);
    at = next;
  }
  return total;
}

void scan_declaration(const PtxStatement& statement, PtxFacts& facts) {
  const Tokens& tokens = statement.tokens;
  if (const auto entry = std::ranges::find(tokens, ".entry"); entry != tokens.end() && entry + 1 != tokens.end()) {
    facts.entries.emplace_back(*(entry + 1));
    facts.parameter_bytes[facts.entries.back()] = parameter_bytes(tokens);
    if (const auto bound = std::ranges::find(tokens, ".maxntid"); bound != tokens.end() && bound + 1 != tokens.end())
      facts.threads_max[facts.entries.back()] = number(*(bound + 1));
  }
  if (has(tokens, ".const"))
    for (const std::string_view token : tokens)
      if (token.starts_with("ol_")) facts.constants[std::string(token)] = words_of(tokens);
}

// The name of `.func (.param .b32 retval) name (...)`: the first word after .func outside parentheses.
std::string_view function_name(const Tokens& tokens) {
  int depth = 0;
  for (auto token = std::ranges::find(tokens, ".func"); token != tokens.end(); ++token) {
    depth += (*token == "(") - (*token == ")");
    if (depth == 0 && !token->starts_with(".") && *token != ")") return *token;
  }
  return {};
}

// Functions that are declared and never defined in this module.
void find_undefined(const std::vector<PtxStatement>& statements, PtxFacts& facts) {
  std::set<std::string_view> declared, defined;
  for (std::size_t i = 0; i < statements.size(); ++i) {
    if (!has(statements[i].tokens, ".func") || statements[i].depth != 0) continue;
    // A definition's head is followed by its body, one level deeper; an empty body counts as none.
    const bool body = i + 1 < statements.size() && statements[i + 1].depth > 0;
    (body ? defined : declared).insert(function_name(statements[i].tokens));
  }
  for (const std::string_view name : declared)
    if (!defined.contains(name) && !known_function(name))
      facts.findings.push_back({"undefined_function", std::string(name), 0});
}

void find_forbidden(const PtxStatement& statement, PtxFacts& facts) {
  std::size_t first = 0;  // after a guard: @ %p1, @ ! %p1
  const Tokens& tokens = statement.tokens;
  if (!tokens.empty() && tokens[0] == "@") first = tokens.size() > 2 && tokens[1] == "!" ? 3 : 2;
  if (first < tokens.size() && forbidden_instruction(tokens[first]))
    facts.findings.push_back({"instruction", std::string(tokens[first]), statement.source_line});
  // A register may bear such a name when it is declared so; then it is not the special one, but no harm in refusing.
  for (const std::string_view token : tokens)
    if (forbidden_register(token)) facts.findings.push_back({"special_register", std::string(token), statement.source_line});
}

}  // namespace

PtxFacts scan_ptx(std::string_view ptx) {
  PtxFacts facts;
  const std::vector<PtxStatement> statements = ptx_statements(ptx);
  for (const PtxStatement& statement : statements) {
    if (statement.depth == 0)
      scan_declaration(statement, facts);
    else
      find_forbidden(statement, facts);
  }
  find_undefined(statements, facts);
  for (const WrittenGlobal& global : written_globals(statements))
    facts.findings.push_back({"mutable_global", global.name, global.source_line});
  return facts;
}

}  // namespace onelaunch::sandbox
