#include "sandbox/host/ptx_globals.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>

namespace onelaunch::sandbox {
namespace {

using Tokens = std::vector<std::string_view>;
using Origins = std::set<std::string_view>;  // names of the variables that a register may point into

bool has(const Tokens& tokens, std::string_view token) { return std::ranges::find(tokens, token) != tokens.end(); }

// The declared name: the last word before the size, the initialiser or the end.
std::string_view declared_name(const Tokens& tokens) {
  std::string_view name;
  for (const std::string_view token : tokens) {
    if (token == "[" || token == "=") break;
    if (token != "," && token != "@") name = token;
  }
  return name;
}

bool is_global_declaration(const PtxStatement& statement) {
  for (const std::string_view token : statement.tokens) {
    if (token == ".global") return true;
    if (token != ".visible" && token != ".extern" && token != ".weak" && token != ".common") return false;
  }
  return false;
}

// One function's statements, followed to a fixed point without regard to order.
class Tracker {
 public:
  Tracker(const std::set<std::string_view>& globals, std::map<std::string_view, int>& written)
      : globals_(globals), written_(written) {}

  void run(const PtxStatement* begin, const PtxStatement* end) {
    for (bool grew = true; grew;) {
      grew = false;
      for (const PtxStatement* statement = begin; statement != end; ++statement) grew |= spread(*statement);
    }
    for (const PtxStatement* statement = begin; statement != end; ++statement) judge(*statement);
  }

 private:
  struct Parts {
    std::string_view opcode;
    std::size_t destination = 0, sources = 0;  // token indices; destination ends before the first comma
  };
  static Parts parts_of(const Tokens& tokens) {
    Parts parts;
    std::size_t first = 0;
    if (tokens[0] == "@") first = tokens.size() > 1 && tokens[1] == "!" ? 3 : 2;
    if (first >= tokens.size()) return parts;
    parts.opcode = tokens[first];
    parts.destination = first + 1;
    parts.sources = first + 1;
    int depth = 0;
    while (parts.sources < tokens.size() && !(tokens[parts.sources] == "," && depth == 0)) {
      depth += (tokens[parts.sources] == "{") - (tokens[parts.sources] == "}");
      ++parts.sources;
    }
    return parts;
  }
  static bool is(std::string_view opcode, std::string_view base) {
    return opcode.starts_with(base) && (opcode.size() == base.size() || opcode[base.size()] == '.');
  }
  // Loads give the value of a table, not its address. (Registers loaded from memory are not followed: an address gets
  // into memory only by a store, which counts.)
  static bool moves_addresses(std::string_view opcode) {
    return !opcode.empty() && opcode[0] != '.' && !is(opcode, "ld") && !is(opcode, "ldu") && !is(opcode, "st") &&
           !is(opcode, "red") && !is(opcode, "bra") && !is(opcode, "call") && !is(opcode, "atom");
  }
  void collect(std::string_view token, Origins& origins) const {
    if (globals_.contains(token)) origins.insert(token);
    if (const auto known = points_into_.find(token); known != points_into_.end())
      origins.insert(known->second.begin(), known->second.end());
  }
  Origins origins_in(const Tokens& tokens, std::size_t from, std::size_t to) const {
    Origins origins;
    for (std::size_t i = from; i < std::min(to, tokens.size()); ++i) collect(tokens[i], origins);
    return origins;
  }
  bool spread(const PtxStatement& statement) {
    const Tokens& tokens = statement.tokens;
    const Parts parts = parts_of(tokens);
    if (!moves_addresses(parts.opcode)) return false;
    const Origins origins = origins_in(tokens, parts.sources, tokens.size());
    if (origins.empty()) return false;
    bool grew = false;
    for (std::size_t i = parts.destination; i < parts.sources; ++i) {
      if (!tokens[i].starts_with("%") && (tokens[i].empty() || !is_name(tokens[i]))) continue;
      Origins& known = points_into_[tokens[i]];
      const std::size_t before = known.size();
      known.insert(origins.begin(), origins.end());
      grew |= known.size() > before;
    }
    return grew;
  }
  static bool is_name(std::string_view token) {
    return std::isalpha(static_cast<unsigned char>(token[0])) != 0 || token[0] == '_' || token[0] == '$';
  }
  void judge(const PtxStatement& statement) {
    const Tokens& tokens = statement.tokens;
    const Parts parts = parts_of(tokens);
    if (is(parts.opcode, "call")) {
      const bool harmless = has(tokens, "vprintf") || has(tokens, "__assertfail");
      if (!harmless) mark(pending_, statement.source_line);
      pending_.clear();
      if (!harmless) mark(origins_in(tokens, parts.destination, tokens.size()), statement.source_line);
      return;
    }
    if (parts.opcode.starts_with("st.param")) {
      // An argument of the call that follows.
      const Origins passed = origins_in(tokens, parts.sources, tokens.size());
      pending_.insert(passed.begin(), passed.end());
      return;
    }
    // Of a copy only the destination, its first operand, is written.
    if (parts.opcode.starts_with("cp.")) mark(origins_in(tokens, parts.destination, parts.sources), statement.source_line);
    const bool writes = is(parts.opcode, "st") || is(parts.opcode, "atom") || is(parts.opcode, "red");
    if (writes) mark(origins_in(tokens, parts.destination, tokens.size()), statement.source_line);
  }
  void mark(const Origins& origins, int source_line) {
    for (const std::string_view name : origins)
      if (!name.starts_with("$")) written_.try_emplace(name, source_line);
  }

  const std::set<std::string_view>& globals_;
  std::map<std::string_view, int>& written_;
  std::map<std::string_view, Origins> points_into_;
  Origins pending_;
};

}  // namespace

std::vector<WrittenGlobal> written_globals(const std::vector<PtxStatement>& statements) {
  std::set<std::string_view> globals;
  std::map<std::string_view, int> written;
  for (const PtxStatement& statement : statements) {
    if (!is_global_declaration(statement)) continue;
    const std::string_view name = declared_name(statement.tokens);
    globals.insert(name);
    // Inside a body only inline assembly declares one, and a name starting with $ would then be its own.
    if (statement.depth > 0) written.try_emplace(name, statement.source_line);
  }
  // An address kept in another variable's initial value is out of our sight.
  for (const PtxStatement& statement : statements)
    if (statement.depth == 0 && has(statement.tokens, "="))
      for (auto token = std::ranges::find(statement.tokens, "="); token != statement.tokens.end(); ++token)
        if (globals.contains(*token)) written.try_emplace(*token, 0);
  for (std::size_t i = 0; i < statements.size();) {
    std::size_t end = i;
    while (end < statements.size() && statements[end].depth > 0) ++end;
    if (end > i) Tracker(globals, written).run(&statements[i], &statements[i] + (end - i));
    i = end + 1;
  }
  std::vector<WrittenGlobal> found;
  for (const auto& [name, line] : written) found.push_back({std::string(name), line});
  return found;
}

}  // namespace onelaunch::sandbox
