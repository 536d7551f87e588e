#include "tasks/generator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "base/bfloat16.h"
#include "base/sha256.h"
#include "tasks/quantiles.h"
#include "tests/tasks/minimal_task.h"

namespace onelaunch::tasks {
namespace {

using ::testing::ElementsAre;
using Buffer = std::vector<std::byte>;

// The known answers that come with Random123.
TEST(Philox, GivesThePublishedAnswers) {
  EXPECT_THAT(philox4x32({0, 0, 0, 0}, {0, 0}), ElementsAre(0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8));
  EXPECT_THAT(philox4x32({~0u, ~0u, ~0u, ~0u}, {~0u, ~0u}),
              ElementsAre(0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd));
  EXPECT_THAT(philox4x32({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
              ElementsAre(0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1));
}

TEST(NormalQuantiles, InvertTheDistributionFunction) {
  for (const double p : {1e-6, 0.001, 0.02, 0.0749, 0.0751, 0.3, 0.5, 0.77, 0.999})
    EXPECT_NEAR(0.5 * std::erfc(-normal_quantile(p) / std::sqrt(2.0)) / p, 1, 1e-13) << p;
}

TEST(NormalQuantiles, AreTheSameBitsEverywhere) {
  const auto table = normal_quantiles();
  EXPECT_EQ(sha256_hex(std::as_bytes(table)), "1cfbba1e07e34386a57626f82aeb43e6ed54ba70a3ea6b7d964dc66a841074a8");
  for (std::size_t i = 1; i < table.size(); ++i) ASSERT_GT(table[i], table[i - 1]);
}

Buffer weights(const Task& task, std::uint64_t seed, InputSet set, int threads) {
  Buffer arena(weight_arena(task).bytes);
  fill_weights(task, seed, set, arena, threads);
  return arena;
}

std::span<const std::byte> part(const Task& task, const Buffer& arena, const std::string& name) {
  const WeightArena places = weight_arena(task);
  for (const WeightArena::Place& place : places.places)
    if (place.tensor->name == name) return std::span(arena).subspan(place.offset, place.bytes);
  ADD_FAILURE() << name;
  return {};
}

std::vector<float> bf16_values(std::span<const std::byte> bytes) {
  std::vector<float> values(bytes.size() / 2);
  for (std::size_t i = 0; i < values.size(); ++i) {
    std::uint16_t bits;
    std::memcpy(&bits, &bytes[2 * i], 2);
    values[i] = bf16_to_float(bits);
  }
  return values;
}

double deviation(const std::vector<float>& values) {
  double sum = 0;
  for (const float v : values) sum += double(v) * v;
  return std::sqrt(sum / double(values.size()));
}

TEST(WeightArena, AlignsEveryWeight) {
  const Task task = parsed(minimal_task());
  const WeightArena arena = weight_arena(task);
  ASSERT_EQ(arena.places.size(), 10u);
  std::size_t end = 0;
  for (const WeightArena::Place& place : arena.places) {
    EXPECT_EQ(place.offset % kWeightAlignment, 0u);
    EXPECT_GE(place.offset, end);
    end = place.offset + place.bytes;
  }
  EXPECT_GE(arena.bytes, end);
}

TEST(FillWeights, GivesTheSameBitsWithAnyNumberOfThreads) {
  const Task task = parsed(minimal_task());
  EXPECT_EQ(weights(task, 5, InputSet::nominal, 1), weights(task, 5, InputSet::nominal, 7));
  EXPECT_NE(weights(task, 5, InputSet::nominal, 1), weights(task, 6, InputSet::nominal, 1));
  EXPECT_NE(weights(task, 5, InputSet::nominal, 1), weights(task, std::uint64_t{5} | 1ull << 32, InputSet::nominal, 1));
}

// Pins the bits: whatever changes them makes old seeds mean other weights.
TEST(FillWeights, KeepsItsBits) {
  const Task task = parsed(minimal_task());
  const Buffer arena = weights(task, 42, InputSet::strict, 2);
  const auto hash = [&](const char* name) { return sha256_hex(part(task, arena, name)).substr(0, 16); };
  EXPECT_EQ(hash("layer.0.norm"), "4ec3e1135398d59d");
  EXPECT_EQ(hash("layer.1.up.packed"), "6a8e477b7d6f6896");
  EXPECT_EQ(hash("layer.1.up.scale"), "9f8f3d770c4feb43");
  EXPECT_EQ(hash("layer.1.up.zero"), "5833673e229d5771");
}

TEST(FillWeights, FollowsTheWrittenRule) {
  const Task task = parsed(minimal_task());
  const std::uint64_t seed = 0x123456789abcdef0;
  const Buffer arena = weights(task, seed, InputSet::nominal, 1);
  const std::vector<float> values = bf16_values(part(task, arena, "layer.1.k"));
  const Tensor& tensor = *task.find("layer.1.k");
  for (const std::size_t e : {std::size_t{0}, std::size_t{9}, std::size_t{1234}, values.size() - 1}) {
    const auto words = philox4x32({tensor.id, static_cast<std::uint32_t>(e / 8), 0, 0}, {0x9abcdef0, 0x12345678});
    const std::uint32_t half = words[e % 8 / 2] >> (e % 2 * 16) & 0xffff;
    EXPECT_EQ(values[e], bf16_to_float(float_to_bf16(normal_quantiles()[half] * 0.02f))) << e;
  }
}

TEST(FillWeights, HasTheDeviationAskedFor) {
  const Task task = parsed(minimal_task());
  const Buffer arena = weights(task, 1, InputSet::nominal, 1);
  EXPECT_NEAR(deviation(bf16_values(part(task, arena, "layer.0.k"))), 0.02, 0.0005);
  for (const float one : bf16_values(part(task, arena, "layer.0.norm"))) ASSERT_EQ(one, 1);
}

TEST(FillWeights, DrawsInt4WeightsOfTheDeviationAskedFor) {
  const Task task = parsed(minimal_task());
  const Buffer arena = weights(task, 1, InputSet::nominal, 1);
  const auto packed = part(task, arena, "layer.0.up.packed");
  const std::vector<float> scale = bf16_values(part(task, arena, "layer.0.up.scale")),
                           zero = bf16_values(part(task, arena, "layer.0.up.zero"));
  std::vector<float> values;
  for (std::size_t k = 0; k < 256; ++k)
    for (std::size_t n = 0; n < 256; ++n) {
      const int q = static_cast<int>(packed[k / 2 * 256 + n]) >> (k % 2 * 4) & 15;
      values.push_back((static_cast<float>(q) - zero[k / 128 * 256 + n]) * scale[k / 128 * 256 + n]);
    }
  EXPECT_NEAR(deviation(values), 0.02, 0.0005);
}

// The channels that are marked in a vector of a seed.
std::vector<std::size_t> loud_channels(const std::vector<float>& norm) {
  std::vector<std::size_t> loud;
  for (std::size_t i = 0; i < norm.size(); ++i)
    if (std::abs(norm[i]) > 20) loud.push_back(i);
  return loud;
}

TEST(FillWeights, MarksTheSameChannelsInAllWeights) {
  std::string text = replaced(minimal_task(), R"("strict": {"normal": 0.25, "mean": 1})",
                              R"("strict": {"normal": 0.1, "mean": 1, "marked": 128})");
  text = replaced(text, R"("group": 128}, "nominal": {"normal": 0.02}})",
                  R"("group": 128}, "nominal": {"normal": 0.02}, "strict": {"normal": 0.02, "marked": 0}})");
  text =
      replaced(text, R"("shape": ["kv", "hidden"], "nominal": {"normal": 0.02}})",
               R"("shape": ["kv", "hidden"], "nominal": {"normal": 0.02}, "strict": {"normal": 0.02, "marked": 0}})");
  const Task task = parsed(text);
  const Buffer arena = weights(task, 1, InputSet::strict, 1);
  const std::vector<std::size_t> loud = loud_channels(bf16_values(part(task, arena, "layer.0.norm")));
  ASSERT_EQ(loud.size(), 2u);  // of 256
  EXPECT_LT(loud[0], 128u);
  EXPECT_GE(loud[1], 128u);
  EXPECT_EQ(loud_channels(bf16_values(part(task, arena, "layer.1.norm"))), loud);
  const std::vector<float> k = bf16_values(part(task, arena, "layer.0.k"));
  const std::vector<float> zero = bf16_values(part(task, arena, "layer.1.up.zero"));
  const auto packed = part(task, arena, "layer.1.up.packed");
  for (const std::size_t channel : loud) {
    for (std::size_t n = 0; n < 64; ++n) ASSERT_EQ(k[n * 256 + channel], 0);
    for (std::size_t n = 0; n < 256; ++n) {
      const int q = static_cast<int>(packed[channel / 2 * 256 + n]) >> (channel % 2 * 4) & 15;
      ASSERT_EQ(static_cast<float>(q), zero[channel / 128 * 256 + n]);
    }
  }
  const Buffer others = weights(task, 2, InputSet::strict, 1);
  EXPECT_NE(loud_channels(bf16_values(part(task, others, "layer.0.norm"))), loud);
}

TEST(FillTensor, StretchesOneElementInSixtyFour) {
  const Task task =
      parsed(replaced(minimal_task(), R"({"normal": 0.5, "spread": 2})", R"({"normal": 0.01, "outlier": 1000})"));
  const Tensor& cache = *task.find("layer.0.cache");
  Buffer rows(cache.bytes(256));
  fill_tensor(task, cache, 3, InputSet::nominal, 256, rows);
  const std::vector<float> values = bf16_values(rows);
  const auto far = std::count_if(values.begin(), values.end(), [](float v) { return std::abs(v) > 0.06f; });
  EXPECT_NEAR(static_cast<double>(far) / double(values.size()), 1.0 / 64, 0.003);
}

TEST(FillToken, SwingsWithinEveryThreeSteps) {
  const Task task = parsed(replaced(minimal_task(), R"("shape": ["hidden"], "nominal": {"normal": 1}})",
                                    R"("shape": ["hidden"], "nominal": {"normal": 1, "swing": 9}})"));
  const Tensor& token = *task.find("token");
  for (const std::uint64_t seed : {1, 2, 3}) {
    double least = 1e9, most = 0;
    for (int step = 5; step < 8; ++step) {
      Buffer bytes(token.bytes(0));
      fill_token(task, token, seed, InputSet::nominal, step, 0, bytes);
      const double scale = deviation(bf16_values(bytes));
      least = std::min(least, scale), most = std::max(most, scale);
      EXPECT_GT(scale, 1.0 / 600);
      EXPECT_LT(scale, 1.2);
    }
    EXPECT_GT(most, 0.1);
    EXPECT_LT(least, 0.02);
  }
}

TEST(FillTensor, FillsCacheRowsUpToTheContextAndZeroesTheRest) {
  const Task task = parsed(minimal_task());
  const Tensor& cache = *task.find("layer.0.cache");
  Buffer long_one(cache.bytes(10), std::byte{0xff}), short_one(cache.bytes(10), std::byte{0xff});
  fill_tensor(task, cache, 3, InputSet::nominal, 8, long_one);
  fill_tensor(task, cache, 3, InputSet::nominal, 5, short_one);
  const std::size_t row = cache.bytes(1);
  EXPECT_TRUE(std::equal(short_one.begin(), short_one.begin() + std::ptrdiff_t(5 * row), long_one.begin()));
  for (std::size_t i = 5 * row; i < short_one.size(); ++i) ASSERT_EQ(short_one[i], std::byte{0});
  EXPECT_NE(deviation(bf16_values(std::span(long_one).subspan(7 * row, row))), 0);
}

TEST(FillTensor, SpreadsTheScalesOfSlices) {
  const Task task = parsed(minimal_task());
  const Tensor& cache = *task.find("layer.0.cache");
  Buffer rows(cache.bytes(64));
  fill_tensor(task, cache, 3, InputSet::nominal, 64, rows);
  const std::vector<float> values = bf16_values(rows);
  double least = 1e9, most = 0;
  for (std::size_t r = 0; r < 64; ++r) {
    const double scale =
        deviation({values.begin() + std::ptrdiff_t(r * 64), values.begin() + std::ptrdiff_t(r * 64 + 64)});
    least = std::min(least, scale), most = std::max(most, scale);
  }
  EXPECT_GT(most / least, 4);  // between a quarter of 0.5 and four times 0.5
  EXPECT_LT(most / least, 40);
}

TEST(FillToken, DiffersByStepDrawAndSeed) {
  const Task task = parsed(minimal_task());
  const Tensor& token = *task.find("token");
  const auto draw = [&](std::uint64_t seed, int step, int tries) {
    Buffer bytes(token.bytes(0));
    fill_token(task, token, seed, InputSet::nominal, step, tries, bytes);
    return bytes;
  };
  EXPECT_EQ(draw(1, 2, 3), draw(1, 2, 3));
  EXPECT_NE(draw(1, 2, 3), draw(1, 3, 3));
  EXPECT_NE(draw(1, 2, 3), draw(1, 2, 4));
  EXPECT_NE(draw(1, 2, 3), draw(2, 2, 3));
  Buffer state(token.bytes(0));
  fill_tensor(task, token, 1, InputSet::nominal, 0, state);
  EXPECT_NE(draw(1, 0, 0), state);
}

}  // namespace
}  // namespace onelaunch::tasks
