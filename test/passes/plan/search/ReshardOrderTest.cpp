// Tests the order in which shardings are made; compares with all trees of
// sources.

#include "passes/plan/search/ReshardOrder.h"

#include "gtest/gtest.h"

#include <random>

using namespace pcc::plan;

namespace {

using Table = std::vector<std::vector<Cost>>;

Cost bytes(double count) { return {0, count, 0, 0}; }

/// Returns the least cost if wanted form i is made from source[i], where 0 is
/// the value and j + 1 is wanted form j. Sources in a cycle are invalid.
Cost cheapestTree(const Table &reform, std::vector<size_t> &source, size_t i) {
  const size_t count = reform.front().size();
  if (i < count) {
    Cost least = Cost::forbidden();
    for (source[i] = 0; source[i] <= count; ++source[i]) {
      auto copy = source;
      least = std::min(least, cheapestTree(reform, copy, i + 1));
    }
    return least;
  }
  Cost sum;
  for (size_t form = 0; form < count; ++form) {
    size_t at = form + 1, steps = 0;
    while (at != 0 && steps++ <= count)
      at = source[at - 1];
    if (at != 0)
      return Cost::forbidden();
    sum += reform[source[form]][form];
  }
  return sum;
}

TEST(ReshardOrder, AGatheredFormIsSliced) {
  // Both cost 3 if made from the value, but the second is a slice of the first.
  const ReshardOrder order = cheapestReshardOrder(
      {{bytes(3), bytes(3)}, {bytes(0), bytes(0)}, {bytes(3), bytes(0)}});
  ASSERT_EQ(order.steps.size(), 2u);
  EXPECT_EQ(order.steps[0].form, 0u);
  EXPECT_EQ(order.steps[1].form, 1u);
  EXPECT_EQ(order.steps[1].source, 1u);
  EXPECT_EQ(order.cost, bytes(3));
}

TEST(ReshardOrder, CheapestTree) {
  std::mt19937 random(3);
  for (int round = 0; round < 300; ++round) {
    const size_t count = random() % 5;
    Table reform(count + 1);
    for (auto &row : reform)
      for (size_t i = 0; i < count; ++i)
        row.push_back(random() % 10 ? bytes(random() % 20) : Cost::forbidden());
    std::vector<size_t> source(count, 0);
    const Cost order = cheapestReshardOrder(reform).cost,
               tree = cheapestTree(reform, source, 0);
    EXPECT_EQ(order.isForbidden(), tree.isForbidden()) << "round " << round;
    if (!tree.isForbidden()) {
      EXPECT_EQ(order, tree) << "round " << round;
    }
  }
}

TEST(ReshardOrder, ManyFormsInTheOrderGiven) {
  const ReshardOrder order = cheapestReshardOrder(
      {{bytes(1), bytes(9)}, {bytes(0), bytes(9)}, {bytes(0), bytes(0)}},
      /*mostOrdered=*/1);
  EXPECT_EQ(order.steps[0].form, 0u);
  EXPECT_EQ(order.cost, bytes(10));
}

} // namespace
