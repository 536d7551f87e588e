#include "agent/prompts/texts.h"

#include "base/embed.h"

ONELAUNCH_EMBED(onelaunch_prompt_system, ONELAUNCH_PROMPTS "/system.md");
ONELAUNCH_EMBED(onelaunch_prompt_craft, ONELAUNCH_PROMPTS "/craft.md");
ONELAUNCH_EMBED(onelaunch_prompt_first, ONELAUNCH_PROMPTS "/first.md");
ONELAUNCH_EMBED(onelaunch_prompt_restart, ONELAUNCH_PROMPTS "/restart.md");

namespace onelaunch::agent {

std::string_view system_text() { return embedded(onelaunch_prompt_system, onelaunch_prompt_system_end); }
std::string_view craft_text() { return embedded(onelaunch_prompt_craft, onelaunch_prompt_craft_end); }
std::string_view first_text() { return embedded(onelaunch_prompt_first, onelaunch_prompt_first_end); }
std::string_view restart_text() { return embedded(onelaunch_prompt_restart, onelaunch_prompt_restart_end); }

}  // namespace onelaunch::agent
