// Tests the choice of divided weights: they save enough and none is
// superfluous; compares with the best of all subsets.

#include "passes/plan/search/DividedWeights.h"

#include "gtest/gtest.h"

#include <random>

using namespace pcc::plan;

namespace {

std::vector<int64_t> savedBy(const std::vector<Savings> &weights,
                             const std::vector<size_t> &chosen,
                             size_t numPositions) {
  std::vector<int64_t> saved(numPositions, 0);
  for (size_t weight : chosen)
    for (size_t p = 0; p < numPositions; ++p)
      saved[p] += weights[weight][p];
  return saved;
}

bool covers(const std::vector<int64_t> &saved,
            const std::vector<int64_t> &needs) {
  for (size_t p = 0; p < needs.size(); ++p)
    if (saved[p] < needs[p])
      return false;
  return true;
}

TEST(DividedWeights, TakesTheSmallestThatCoversTheRest) {
  EXPECT_EQ(chooseDividedWeights({{8}, {8}, {4}, {2}}, {10}),
            (std::vector<size_t>{0, 3}));
  EXPECT_EQ(chooseDividedWeights({{8}, {8}, {4}, {2}}, {3}),
            (std::vector<size_t>{2}));
  EXPECT_TRUE(chooseDividedWeights({{8}}, {0}).empty());
}

TEST(DividedWeights, TakesAllWhereAllAreTooFew) {
  EXPECT_EQ(chooseDividedWeights({{1}, {0}, {2}}, {10}),
            (std::vector<size_t>{0, 2}));
}

// A weight of two stages saves bytes on both.
TEST(DividedWeights, PutsBackWhatAnotherPositionMakesSpare) {
  EXPECT_EQ(chooseDividedWeights({{5, 0}, {5, 9}}, {5, 9}),
            (std::vector<size_t>{1}));
}

TEST(DividedWeights, EnoughAndNoneForNothing) {
  std::mt19937 random(7);
  for (int round = 0; round < 500; ++round) {
    const size_t numPositions = 1 + random() % 3;
    std::vector<Savings> weights(1 + random() % 8);
    for (Savings &weight : weights)
      for (size_t p = 0; p < numPositions; ++p)
        weight.push_back(random() % 20);
    std::vector<int64_t> needs;
    for (size_t p = 0; p < numPositions; ++p)
      needs.push_back(random() % 60);
    std::vector<size_t> all(weights.size());
    for (size_t i = 0; i < all.size(); ++i)
      all[i] = i;
    const auto chosen = chooseDividedWeights(weights, needs);
    const auto saved = savedBy(weights, chosen, numPositions);
    if (!covers(savedBy(weights, all, numPositions), needs))
      continue;
    ASSERT_TRUE(covers(saved, needs)) << "round " << round;
    for (size_t without = 0; without < chosen.size(); ++without) {
      auto fewer = chosen;
      fewer.erase(fewer.begin() + without);
      EXPECT_FALSE(covers(savedBy(weights, fewer, numPositions), needs))
          << "round " << round << ": weight " << chosen[without]
          << " is not needed";
    }
  }
}

TEST(DividedWeights, AtMostTwiceTheBest) {
  std::mt19937 random(11);
  for (int round = 0; round < 500; ++round) {
    std::vector<Savings> weights(1 + random() % 10);
    int64_t sum = 0;
    for (Savings &weight : weights) {
      weight = {int64_t(1 + random() % 30)};
      sum += weight[0];
    }
    const std::vector<int64_t> needs{int64_t(1 + random() % sum)};
    int64_t best = sum;
    for (unsigned subset = 0; subset < 1u << weights.size(); ++subset) {
      int64_t saved = 0;
      for (size_t i = 0; i < weights.size(); ++i)
        saved += subset >> i & 1 ? weights[i][0] : 0;
      if (saved >= needs[0])
        best = std::min(best, saved);
    }
    EXPECT_LE(savedBy(weights, chooseDividedWeights(weights, needs), 1)[0],
              2 * best)
        << "round " << round;
  }
}

} // namespace
