#include "agent/model/words.h"

namespace onelaunch::agent::words {
namespace {

std::string budget_notice(const std::string& what, int share) {
  if (share < 75) return "[notice] Half of the " + what + " is used.";
  if (share < 90) return "[notice] Three quarters of the " + what + " is used. Finish what is begun before starting anything large.";
  if (share < 100)
    return "[notice] 90 % of the " + what + " is used. Start no new structure: tune or repair what stands, and evaluate it.";
  return "[notice] The " + what + " is nearly used up. Evaluate now what is worth it; what is not evaluated does not count.";
}

}  // namespace

std::string nudge() {
  return "Nobody reads messages while the session runs, and there is time left. Go on: call a tool. If you have no idea left that "
         "is worth trying, call `finish`.";
}

std::string really_finish() {
  return "Not finished yet: much of the time is left, and time left over is worth nothing. Look at `history` and at the floor: is there "
         "a phase that takes more than its bytes need? If you are sure that nothing is worth trying, call `finish` again.";
}

std::string cut_off(long output_tokens_max) {
  return "Your reply was cut off after " + std::to_string(output_tokens_max) +
         " tokens, and nothing of it was carried out. Send less at once: change the kernel in pieces with `str_replace` or "
         "`apply_patch` instead of writing it anew.";
}

std::string go_on() { return "Go on."; }

std::string repeating(const RepetitionWatch& watch, Repeating said) {
  const std::string times = std::to_string(watch.times());
  if (watch.by_errors())
    return said == Repeating::warn
               ? "[notice] The last calls all failed. Read what they say, and the tools' descriptions, before the next one."
               : "[notice] The last calls all failed, in a row. Stop this way of working: `read_kernel`, think, and call one tool "
                 "with small, valid arguments. The session ends if this goes on.";
  if (said == Repeating::warn)
    return "[notice] You have made this same call " + times + " times with the same outcome. It will not change by itself.";
  return "[notice] You have made this same call " + times +
         " times with the same outcome. You are going round in circles: take a different approach now. `history` shows what was tried. "
         "The session ends if this goes on.";
}

std::string near_to(const Likeness& likeness) {
  return "[notice] This was a small variation of " + likeness.id + ": " + std::to_string(likeness.apart) + " words differ.";
}

std::string small_steps(int steps) {
  return "[notice] The last " + std::to_string(steps) +
         " attempts were small variations, and none was kept. Sweep such values as tunables, or leave them: look for the largest loss "
         "instead, and change the structure.";
}

std::string time_notice(int share) { return budget_notice("time", share); }
std::string money_notice(int share) { return budget_notice("budget", share); }

}  // namespace onelaunch::agent::words
