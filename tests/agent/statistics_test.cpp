#include "agent/loop/statistics.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace onelaunch::agent {
namespace {

TEST(Statistics, MedianIsTheMiddleOrTheMeanOfTheTwoMiddles) {
  EXPECT_EQ(median_of({}), 0);
  EXPECT_EQ(median_of({3, 1, 2}), 2);
  EXPECT_EQ(median_of({4, 1, 3, 2}), 2.5);
}

TEST(Statistics, DeviationIsThatOfASample) {
  EXPECT_EQ(deviation_of(std::vector<double>{5}), 0);
  EXPECT_DOUBLE_EQ(deviation_of(std::vector<double>{1, 3}), std::sqrt(2.0));
}

TEST(Statistics, ErrorOfTheMedianHardlySeesAnOutlier) {
  std::vector<double> values;
  for (int i = 0; i < 101; ++i) values.push_back(i % 11);
  const double calm = error_of_median(values);
  values[0] = 1e9;
  EXPECT_GT(calm, 0);
  EXPECT_NEAR(error_of_median(values), calm, 0.01 * calm);
}

// Values from printed tables of the t distribution.
TEST(StudentT, HasTheQuantilesOfTheTables) {
  EXPECT_NEAR(student_quantile(0.025, 1), 12.706, 1e-3);
  EXPECT_NEAR(student_quantile(0.025, 2), 4.303, 1e-3);
  EXPECT_NEAR(student_quantile(0.05, 4), 2.132, 1e-3);
  EXPECT_NEAR(student_quantile(0.025, 4), 2.776, 1e-3);
  EXPECT_NEAR(student_quantile(0.0005, 4), 8.610, 1e-3);
  EXPECT_NEAR(student_quantile(0.005, 9), 3.250, 1e-3);
  EXPECT_NEAR(student_quantile(0.025, 30), 2.042, 1e-3);
}

TEST(StudentT, TailIsSymmetricAndFallsAsItMust) {
  for (const int freedom : {1, 2, 3, 4, 5, 10}) {
    EXPECT_DOUBLE_EQ(student_tail(0, freedom), 0.5) << freedom;
    EXPECT_NEAR(student_tail(-1.5, freedom) + student_tail(1.5, freedom), 1, 1e-12) << freedom;
  }
  EXPECT_NEAR(student_tail(30, 4) * 30 * 30 * 30 * 30, 3, 0.1) << "3 / t^4 far out, of 4 degrees of freedom";
}

TEST(Outliers, AreThoseFarAboveTheMedianAround) {
  std::vector<double> values(60, 100);
  values[3] = 119, values[30] = 121, values[59] = 5000, values[10] = 10;
  const std::vector<bool> far = far_above_neighbours(values, 1.2);
  for (std::size_t i = 0; i < values.size(); ++i) EXPECT_EQ(far[i], i == 30 || i == 59) << i;
}

TEST(Outliers, AreNotMadeByAClockThatChangesForGood) {
  std::vector<double> values(100, 100);
  for (std::size_t i = 50; i < 100; ++i) values[i] = 130;
  const std::vector<bool> far = far_above_neighbours(values, 1.2);
  EXPECT_LE(std::ranges::count(far, true), 10) << "only those right after the change";
}

}  // namespace
}  // namespace onelaunch::agent
