#pragma once
// Fixed sentences that a model is told on the way.

#include <string>

#include "agent/model/repetition.h"
#include "agent/tools/likeness.h"

namespace onelaunch::agent::words {

// It ended its turn without a call although there is time.
std::string nudge();
// It wants to finish with much time left; asked once.
std::string really_finish();
// Its reply was cut off at the limit of output.
std::string cut_off(long output_tokens_max);
// A pause that nobody asked for, over and over.
std::string go_on();

std::string repeating(const RepetitionWatch& watch, Repeating said);
std::string near_to(const Likeness& likeness);
std::string small_steps(int steps);

// "half of the time is used"; what to do near the end. share: 50, 75, 90 per cent, or 100: the last minutes.
std::string time_notice(int share);
std::string money_notice(int share);

}  // namespace onelaunch::agent::words
