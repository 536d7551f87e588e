#include "agent/model/allowance.h"

#include <gtest/gtest.h>

namespace onelaunch::agent {
namespace {

constexpr std::uint64_t kMax = 32000;
const TokenPrices kPrices{.input = 5, .output = 25};  // US dollars a million

ModelSpending spent(double usd, std::uint64_t tokens) { return {.usd = usd, .tokens = tokens}; }

TEST(AllowedOutput, IsTheWholeLimitWithoutABudget) {
  EXPECT_EQ(allowed_output({}, {}, spent(1e6, 1'000'000'000), 500'000, kMax), kMax);
}

TEST(AllowedOutput, NeverLetsTheCallAtHandPassTheBudgetInDollars) {
  const ModelBudget budget{.usd = 1.0};
  for (double usd = 0; usd < 1.1; usd += 0.01) {
    const auto allowed = allowed_output(budget, kPrices, spent(usd, 0), 10'000, kMax);
    if (!allowed) continue;
    EXPECT_LE(usd + (10'000 * kPrices.input + static_cast<double>(*allowed) * kPrices.output) / 1e6, 1.0 + 1e-9) << usd;
    EXPECT_GE(*allowed, kOutputTokensMin);
  }
  EXPECT_FALSE(allowed_output(budget, kPrices, spent(0.94, 0), 10'000, kMax)) << "a prompt of $0.05 and $0.026 do not fit";
  EXPECT_TRUE(allowed_output(budget, kPrices, spent(0.9, 0), 10'000, kMax));
}

TEST(AllowedOutput, NeverLetsTheCallAtHandPassTheBudgetInTokens) {
  const ModelBudget budget{.tokens = 100'000};
  EXPECT_EQ(allowed_output(budget, {}, spent(0, 0), 10'000, kMax), kMax);
  EXPECT_EQ(allowed_output(budget, {}, spent(0, 60'000), 10'000, kMax), kMax / 2) << "30,000 are left, halves are allowed";
  EXPECT_FALSE(allowed_output(budget, {}, spent(0, 89'500), 10'000, kMax));
}

TEST(AllowedOutput, EndsWhenDollarsAreUsedUpEvenWithoutPrices) {
  EXPECT_FALSE(allowed_output({.usd = 1.0}, {}, spent(1.0, 0), 1000, kMax));
  EXPECT_TRUE(allowed_output({.usd = 1.0}, {}, spent(0.5, 0), 1000, kMax));
}

TEST(SpendingText, SaysWhatIsKnown) {
  EXPECT_EQ(spending_text({}, {}), "");
  EXPECT_EQ(spending_text({.usd = 10}, spent(1.234, 120'500)), "$1.23 of $10.00, 120k tokens");
  EXPECT_EQ(spending_text({.tokens = 1'000'000}, spent(0, 1234)), "1234 of 1000k tokens");
  ModelSpending some = spent(0.5, 10);
  some.unpriced = 2;
  EXPECT_EQ(spending_text({}, some), "$0.50 and 2 unpriced replies, 10 tokens");
}

TEST(ShareUsed, IsThatOfTheScarcerBudget) {
  EXPECT_DOUBLE_EQ(share_used({}, spent(5, 5)), 0);
  EXPECT_DOUBLE_EQ(share_used({.usd = 10, .tokens = 100}, spent(2, 50)), 0.5);
}

}  // namespace
}  // namespace onelaunch::agent
