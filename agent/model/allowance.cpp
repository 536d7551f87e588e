#include "agent/model/allowance.h"

#include <algorithm>
#include <cstdio>

namespace onelaunch::agent {
namespace {

constexpr double kMillion = 1e6;

std::string dollars(double usd) {
  char text[48];
  std::snprintf(text, sizeof text, "$%.2f", usd);
  return text;
}

std::string thousands(std::uint64_t tokens) {
  return tokens < 10000 ? std::to_string(tokens) : std::to_string(tokens / 1000) + "k";
}

}  // namespace

std::optional<std::uint64_t> allowed_output(const ModelBudget& budget, const std::optional<TokenPrices>& prices,
                                            const ModelSpending& spent, std::uint64_t prompt_tokens,
                                            std::uint64_t output_tokens_max) {
  double affordable = static_cast<double>(output_tokens_max);
  const auto prompt = static_cast<double>(prompt_tokens);
  if (budget.tokens) affordable = std::min(affordable, static_cast<double>(*budget.tokens) - static_cast<double>(spent.tokens) - prompt);
  if (budget.usd && prices && prices->output > 0)
    affordable = std::min(affordable, ((*budget.usd - spent.usd) * kMillion - prompt * prices->input) / prices->output);
  if (budget.usd && spent.usd >= *budget.usd) return std::nullopt;
  std::uint64_t allowed = output_tokens_max;
  while (allowed > kOutputTokensMin && static_cast<double>(allowed) > affordable) allowed = std::max(allowed / 2, kOutputTokensMin);
  return static_cast<double>(std::min(allowed, kOutputTokensMin)) <= affordable ? std::optional(allowed) : std::nullopt;
}

double share_used(const ModelBudget& budget, const ModelSpending& spent) {
  double share = 0;
  if (budget.usd && *budget.usd > 0) share = spent.usd / *budget.usd;
  if (budget.tokens && *budget.tokens > 0)
    share = std::max(share, static_cast<double>(spent.tokens) / static_cast<double>(*budget.tokens));
  return share;
}

std::string spending_text(const ModelBudget& budget, const ModelSpending& spent) {
  std::string text;
  if (budget.usd || spent.usd > 0) {
    text = dollars(spent.usd) + (budget.usd ? " of " + dollars(*budget.usd) : "");
    if (spent.unpriced > 0) text += " and " + std::to_string(spent.unpriced) + " unpriced replies";
  }
  if (budget.tokens || spent.tokens > 0)
    text += (text.empty() ? "" : ", ") + thousands(spent.tokens) + (budget.tokens ? " of " + thousands(*budget.tokens) : "") + " tokens";
  return text;
}

}  // namespace onelaunch::agent
