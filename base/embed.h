#pragma once
// Files that a program carries: the assembler copies them as they are, so that the compiler never sees a megabyte of
// literals.

#include <cstddef>
#include <string_view>

// At namespace scope, outside of all namespaces: symbol[] is the file's bytes, symbol_end[] where they end. `path` is a
// literal; a build that gives it by CMake names the file as OBJECT_DEPENDS of the source, to notice when it changes.
#define ONELAUNCH_EMBED(symbol, path)     \
  asm(".section .rodata\n"                \
      ".global " #symbol "\n"             \
      ".global " #symbol "_end\n"         \
      #symbol ":\n"                       \
      ".incbin \"" path "\"\n"            \
      #symbol "_end:\n"                   \
      ".byte 0\n"                         \
      ".previous\n");                     \
  extern "C" const char symbol[];         \
  extern "C" const char symbol##_end[]

namespace onelaunch {

inline std::string_view embedded(const char* begin, const char* end) {
  return {begin, static_cast<std::size_t>(end - begin)};
}

}  // namespace onelaunch
