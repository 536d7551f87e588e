#pragma once
// How a model is driven, and every limit on it.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "agent/llm/chat.h"
#include "agent/model/allowance.h"

namespace onelaunch::agent {

struct ModelOptions {
  std::string agent;                        // as asked for: "anthropic:MODEL"
  std::string provider, model;
  std::string effort;                       // as asked for; for the record
  ModelBudget budget;
  std::optional<TokenPrices> prices;        // for the call that is about to be made
  // What a reply cost whose model goes by a name without a price, at the price of the one that was asked for.
  std::function<std::optional<double>(const llm::Usage&)> cost_of;
  std::uint64_t output_tokens_max = 32000;  // of one reply
  std::uint64_t context_window = 200000;    // tokens
  double restart_share = 0.65;              // of the window: a longer conversation is begun anew ...
  int restart_replies_min = 4;              // ... once it has had so many replies
  // In a row, before the session ends.
  int nudges_max = 5, cut_offs_max = 6, refusals_max = 2;
  int pauses_max = 5;                       // afterwards it is told to go on
  double finish_share = 0.2;                // of the time: with more than this left, it is asked whether it is sure
};

}  // namespace onelaunch::agent
