#include "agent/prompts/texts.h"

// The assembler copies each file as it is. The folder comes from CMake.
#define ONELAUNCH_EMBED(name, path)                   \
  asm(".section .rodata\n"                            \
      ".global onelaunch_prompt_" #name "\n"          \
      ".global onelaunch_prompt_" #name "_end\n"      \
      "onelaunch_prompt_" #name ":\n"                 \
      ".incbin \"" path "\"\n"                        \
      "onelaunch_prompt_" #name "_end:\n"             \
      ".byte 0\n"                                     \
      ".previous\n");                                 \
  extern "C" const char onelaunch_prompt_##name[];    \
  extern "C" const char onelaunch_prompt_##name##_end[]

ONELAUNCH_EMBED(system, ONELAUNCH_PROMPTS "/system.md");
ONELAUNCH_EMBED(craft, ONELAUNCH_PROMPTS "/craft.md");
ONELAUNCH_EMBED(first, ONELAUNCH_PROMPTS "/first.md");
ONELAUNCH_EMBED(restart, ONELAUNCH_PROMPTS "/restart.md");

namespace onelaunch::agent {
namespace {

std::string_view between(const char* begin, const char* end) {
  return {begin, static_cast<std::size_t>(end - begin)};
}

}  // namespace

std::string_view system_text() { return between(onelaunch_prompt_system, onelaunch_prompt_system_end); }
std::string_view craft_text() { return between(onelaunch_prompt_craft, onelaunch_prompt_craft_end); }
std::string_view first_text() { return between(onelaunch_prompt_first, onelaunch_prompt_first_end); }
std::string_view restart_text() { return between(onelaunch_prompt_restart, onelaunch_prompt_restart_end); }

}  // namespace onelaunch::agent
