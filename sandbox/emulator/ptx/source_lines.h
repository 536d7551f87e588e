#pragma once
// Builds Module::locations from .loc directives, whose inlined_at refers to an earlier .loc by its numbers.

#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>

#include "sandbox/emulator/ptx/module.h"

namespace onelaunch::emu::ptx {

class Lexer;

class SourceLines {
 public:
  // Behind ".loc". Returns the index of the location that instructions have from here on; line 0 (made up by the
  // compiler) keeps `current`.
  int read_location(Lexer& lexer, std::vector<Location>& locations, int current);
  // Behind ".file".
  void read_file(Lexer& lexer, std::map<int, std::string>& files) const;
  // Behind ".section": keeps the strings of .debug_str, skips every other section.
  void read_section(Lexer& lexer);
  // Puts the strings in the place of their labels, once all sections are read.
  void name_functions(std::vector<Location>& locations) const;

 private:
  std::map<std::tuple<int, int, int>, int> latest_;                              // file, line, column -> location
  std::map<std::tuple<int, int, int, int, std::string>, int> known_;             // the same and its call site
  std::unordered_map<std::string, std::string> strings_;
};

}  // namespace onelaunch::emu::ptx
