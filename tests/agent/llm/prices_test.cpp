#include "agent/llm/prices.h"

#include <gtest/gtest.h>

#include <set>

namespace onelaunch::llm {
namespace {

PriceTable table() { return *PriceTable::parse(PriceTable::built_in_text()); }

TEST(PriceTable, IsDatedAndEveryPriceHasASource) {
  const auto parsed = PriceTable::parse(PriceTable::built_in_text());
  ASSERT_TRUE(parsed) << parsed.error().message;
  EXPECT_EQ(parsed->date().size(), 10u);
  EXPECT_GE(parsed->prices().size(), 20u);
  std::set<std::string> seen;
  for (const Price& price : parsed->prices()) {
    EXPECT_TRUE(seen.insert(price.provider + ":" + price.model).second) << price.model;
    EXPECT_FALSE(price.source.empty());
    EXPECT_GT(*price.rates.output, *price.rates.input) << price.model;
    EXPECT_LT(price.rates.cache_read.value_or(0), *price.rates.input) << price.model;
    EXPECT_GT(price.rates.cache_write_5m.value_or(1e9), *price.rates.input) << price.model;
  }
}

TEST(PriceTable, FindsAModelWithItsEdition) {
  const PriceTable prices = table();
  EXPECT_EQ(prices.find("anthropic", "claude-haiku-4-5-20251001")->model, "claude-haiku-4-5");
  EXPECT_EQ(prices.find("anthropic", "claude-opus-4-5")->model, "claude-opus-4-5");
  EXPECT_EQ(prices.find("anthropic", "claude-opus-5-5-latest")->model, "claude-opus-5-5");
  EXPECT_EQ(prices.find("openai", "gpt-6.2-sol-2026-11-17")->model, "gpt-6.2-sol");
  EXPECT_EQ(prices.find("anthropic", "claude-opus-4-9"), nullptr) << "a successor has prices of its own";
  EXPECT_EQ(prices.find("anthropic", "claude-opus-5-fast"), nullptr);
  EXPECT_EQ(prices.find("compat", "claude-opus-5"), nullptr) << "another seller has other prices";
}

TEST(PriceTable, ChargesEveryKindOfToken) {
  const Usage usage{.input = 1000000,
                    .cache_read = 2000000,
                    .cache_write_5m = 3000000,
                    .cache_write_1h = 4000000,
                    .output = 5000000,
                    .reasoning = 1000000,
                    .known = true};
  EXPECT_NEAR(*table().cost_usd("anthropic", "claude-opus-5", usage), 5 + 2 * 0.5 + 3 * 6.25 + 4 * 10 + 5 * 25, 1e-9);
}

TEST(PriceTable, ChargesALongPromptDifferently) {
  const PriceTable prices = table();
  EXPECT_NEAR(*prices.cost_usd("anthropic", "claude-haiku-5-5", {.input = 100000, .output = 1000}), 0.01 + 0.0005,
              1e-9);
  EXPECT_NEAR(*prices.cost_usd("anthropic", "claude-haiku-5-5", {.input = 50000, .cache_read = 50001, .output = 1000}),
              0.025 + 50001 * 0.05e-6 + 0.0025, 1e-9);
  EXPECT_FALSE(prices.cost_usd("openai", "gpt-6-sol", {.input = 300000, .output = 1})) << "unknown is unpriced";
}

TEST(PriceTable, DoesNotGuess) {
  const PriceTable prices = table();
  EXPECT_FALSE(prices.cost_usd("anthropic", "claude-unheard-of", {.input = 1}));
  EXPECT_FALSE(prices.cost_usd("openai", "gpt-6.1-sol", {.input = 1, .cache_write_5m = 1})) << "no rate for writes";
  EXPECT_TRUE(prices.cost_usd("openai", "gpt-6.1-sol", {.input = 1}));
}

TEST(PriceTable, RefusesWhatIsNoTable) {
  for (
      const char* broken :
      {"", "{}", R"({"date":"2026-12-01","prices":[{"provider":"p","model":"m","input":1,"output":1}]})",
       R"({"date":"2026-12-01","prices":[{"provider":"p","model":"m","source":"s","input":-1,"output":1}]})",
       R"({"date":"2026-12-01","prices":[{"provider":"p","model":"m","source":"s","input":1}]})",
       R"({"date":"2026-12-01","prices":[{"provider":"p","model":"m","source":"s","input":1,"output":1,"long":{"input":2,"output":2}}]})"})
    EXPECT_FALSE(PriceTable::parse(broken)) << broken;
}

}  // namespace
}  // namespace onelaunch::llm
