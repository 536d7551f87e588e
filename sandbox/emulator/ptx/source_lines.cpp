#include "sandbox/emulator/ptx/source_lines.h"

#include "sandbox/emulator/ptx/lexer.h"

namespace onelaunch::emu::ptx {

int SourceLines::read_location(Lexer& lexer, std::vector<Location>& locations, int current) {
  Location location;
  location.file = static_cast<int>(lexer.expect_integer());
  location.line = static_cast<int>(lexer.expect_integer());
  location.column = static_cast<int>(lexer.expect_integer());
  while (lexer.accept(',')) {
    if (lexer.accept("function_name")) {
      location.function = lexer.expect_word();
      if (lexer.accept('+')) lexer.expect_integer();
    } else if (lexer.accept("inlined_at")) {
      const auto file = static_cast<int>(lexer.expect_integer());
      const auto line = static_cast<int>(lexer.expect_integer());
      const auto column = static_cast<int>(lexer.expect_integer());
      const auto caller = latest_.find({file, line, column});
      if (caller != latest_.end()) location.inlined_at = caller->second;
    } else {
      lexer.fail(lexer.line(), "attribute " + std::string(lexer.peek().text) + " of .loc is not implemented");
      return current;
    }
  }
  const auto next = static_cast<int>(locations.size());
  const auto [known, fresh] = known_.try_emplace(
      {location.file, location.line, location.column, location.inlined_at, location.function}, next);
  latest_[{location.file, location.line, location.column}] = known->second;
  const bool made_up = location.line == 0;
  if (fresh) locations.push_back(std::move(location));
  return made_up && current >= 0 ? current : known->second;
}

void SourceLines::read_file(Lexer& lexer, std::map<int, std::string>& files) const {
  const auto number = static_cast<int>(lexer.expect_integer());
  files[number] = lexer.take().text;
  while (lexer.accept(',')) lexer.take();
}

void SourceLines::read_section(Lexer& lexer) {
  const bool strings = lexer.take().text == ".debug_str";
  lexer.expect('{');
  if (!strings) return lexer.skip_braces();
  std::string* current = nullptr;
  while (!lexer.at_end() && !lexer.accept('}')) {
    if (lexer.accept(".b8")) {
      do {
        const auto value = lexer.expect_integer();
        if (current != nullptr && value != 0) current->push_back(static_cast<char>(value));
      } while (lexer.accept(','));
    } else {
      current = &strings_[std::string(lexer.take().text)];
      lexer.accept(':');
    }
  }
}

void SourceLines::name_functions(std::vector<Location>& locations) const {
  for (Location& location : locations) {
    const auto found = strings_.find(location.function);
    if (found != strings_.end()) location.function = found->second;
  }
}

}  // namespace onelaunch::emu::ptx
