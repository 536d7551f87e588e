#pragma once
// What a model may still spend, the call that is about to be made included.

#include <cstdint>
#include <optional>
#include <string>

#include "agent/model/talk.h"

namespace onelaunch::agent {

struct ModelBudget {
  std::optional<double> usd;
  std::optional<std::uint64_t> tokens;  // read and written, cached ones too
};

// US dollars a million tokens, as far as known: the dearest kind of input.
struct TokenPrices {
  double input = 0, output = 0;
};

// The least that a reply may be allowed: less is not worth a call.
constexpr std::uint64_t kOutputTokensMin = 1024;

// How long the next reply may be, at most `output_tokens_max`, so that the budget holds even if every token of the prompt
// is paid for in full. Nothing: the budget does not allow another call. Halves `output_tokens_max` as often as needed, so
// that it changes rarely.
std::optional<std::uint64_t> allowed_output(const ModelBudget& budget, const std::optional<TokenPrices>& prices,
                                            const ModelSpending& spent, std::uint64_t prompt_tokens,
                                            std::uint64_t output_tokens_max);

// The larger of both shares that are used up, as a fraction; 0 without a budget.
double share_used(const ModelBudget& budget, const ModelSpending& spent);

// "$1.23 of $10.00, 120k of 1000k tokens"; what is known of it; empty when nothing was spent and nothing is limited.
std::string spending_text(const ModelBudget& budget, const ModelSpending& spent);

}  // namespace onelaunch::agent
