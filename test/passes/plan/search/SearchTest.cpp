// Tests variable elimination: compares with exhaustive search on small graphs,
// and measures time on long ones.

#include "passes/plan/search/Minimise.h"

#include "gtest/gtest.h"

#include <random>

using namespace pcc::plan;

namespace {

Cost bytes(double count) { return {0, count, 0, 0}; }

/// Returns the cheapest total over all assignments.
Cost cheapest(const CostGraph &graph) {
  std::vector<uint32_t> values(graph.numVariables(), 0);
  Cost least = graph.evaluate(values);
  while (true) {
    size_t v = 0;
    while (v < values.size() && ++values[v] == graph.domain(v))
      values[v++] = 0;
    if (v == values.size())
      return least;
    least = std::min(least, graph.evaluate(values));
  }
}

Cost randomCost(std::mt19937 &random) {
  return random() % 20 == 0
             ? Cost::forbidden()
             : Cost{0, double(random() % 7), double(random() % 3), 0};
}

CostGraph randomGraph(std::mt19937 &random) {
  CostGraph graph;
  const size_t count = 1 + random() % 7;
  for (size_t v = 0; v < count; ++v) {
    std::vector<Cost> unary(1 + random() % 4);
    for (Cost &cost : unary)
      cost = randomCost(random);
    graph.addVariable(unary);
  }
  for (size_t k = 0, pairs = random() % 12; k < pairs; ++k)
    graph.addPairs(random() % count, random() % count,
                   [&](size_t, size_t) { return randomCost(random); });
  return graph;
}

/// Returns blocks of a transformer: a chain of ops. The op after next also uses
/// the end of each block, and the block's last add uses the residual.
CostGraph residualChain(size_t count, size_t domain, std::mt19937 &random) {
  CostGraph graph;
  for (size_t v = 0; v < count; ++v) {
    std::vector<Cost> unary(domain);
    for (Cost &cost : unary)
      cost = bytes(random() % 100);
    graph.addVariable(unary);
    auto price = [&](size_t i, size_t j) {
      return i == j ? Cost() : Cost{0, double(random() % 100), 1, 0};
    };
    if (v > 0)
      graph.addPairs(v - 1, v, price);
    if (v % 6 == 0 && v >= 6)
      graph.addPairs(v - 6, v, price);
    if (v % 6 == 4)
      graph.addPairs(v - 3, v, price);
  }
  return graph;
}

TEST(Search, CostsCompareTheirMostImportantPartFirst) {
  EXPECT_LT((Cost{0, 100, 0, 0}), (Cost{1, 0, 0, 0}));
  EXPECT_LT((Cost{0, 1, 9, 9}), (Cost{0, 2, 0, 0}));
  EXPECT_LT((Cost{0, 1, 1, 1}), (Cost{0, 1, 1, 2}));
  EXPECT_LT((Cost{1e300, 0, 0, 0}), Cost::forbidden());
}

TEST(Search, TheCheapestAssignmentOfExhaustiveSearchIsFound) {
  std::mt19937 random(1);
  for (int round = 0; round < 2000; ++round) {
    CostGraph graph = randomGraph(random);
    Assignment found = minimise(graph);
    ASSERT_TRUE(found.exact);
    Cost best = cheapest(graph);
    if (best.isForbidden())
      ASSERT_FALSE(found.allowed()) << round;
    else
      ASSERT_EQ(found.cost, best) << round;
    ASSERT_EQ(minimise(graph).values, found.values) << "not deterministic";
  }
}

TEST(Search, TiesTakeTheFirstValue) {
  CostGraph graph;
  for (int v = 0; v < 5; ++v)
    graph.addVariable({bytes(1), bytes(1), bytes(1)});
  for (Variable v = 1; v < 5; ++v)
    graph.addPairs(v - 1, v, [](size_t i, size_t j) { return bytes(i != j); });
  EXPECT_EQ(minimise(graph).values, (std::vector<uint32_t>(5, 0)));
}

TEST(Search, TablesOfFourThousandOpsWithResidualsStaySmall) {
  std::mt19937 random(5);
  CostGraph graph = residualChain(4000, 8, random);
  Assignment found = minimise(graph);
  EXPECT_TRUE(found.exact);
  EXPECT_LE(found.largestTable, 8u * 8 * 8);
}

TEST(Search, AHubWithThousandsOfUsersStaysCheap) {
  std::mt19937 random(6);
  CostGraph graph = residualChain(10000, 4, random);
  Variable mask = graph.addVariable(std::vector<Cost>(4));
  for (Variable v = 0; v < 10000; v += 3)
    graph.addPairs(v, mask, [](size_t i, size_t j) { return bytes(i != j); });
  Assignment found = minimise(graph);
  EXPECT_TRUE(found.exact);
}

TEST(Search, WideGraphsAreFrozenAndSaySo) {
  std::mt19937 random(8);
  CostGraph graph;
  for (int v = 0; v < 12; ++v)
    graph.addVariable(std::vector<Cost>(3));
  for (Variable a = 0; a < 12; ++a)
    for (Variable b = a + 1; b < 12; ++b)
      graph.addPairs(a, b, [&](size_t i, size_t j) {
        return bytes(i == j ? 0 : 1 + random() % 9);
      });
  Assignment found = minimise(graph, /*tableLimit=*/81);
  EXPECT_FALSE(found.exact);
  EXPECT_LE(found.largestTable, 81u);
  EXPECT_EQ(found.cost, bytes(0)) << "all equal is best, and found here";
  EXPECT_TRUE(minimise(graph).exact);
}

TEST(Search, AReshardSharedByUsersIsPaidOnce) {
  // The producer has form 0. Three users save 4 bytes each with form 1, and the
  // reshard costs 10: more than one user saves, less than three save.
  CostGraph graph;
  SharedValue value;
  value.producer = graph.addVariable({bytes(0)});
  value.producedForm = {0};
  value.reform = {{bytes(0), bytes(10)}, {bytes(10), bytes(0)}};
  for (int k = 0; k < 3; ++k)
    value.users.push_back({graph.addVariable({bytes(4), bytes(0)}), {0, 1}});
  SharedForms forms = addSharedValue(graph, value);
  Assignment found = minimise(graph);
  EXPECT_EQ(found.cost, bytes(10));
  EXPECT_EQ(forms.made[found.values[forms.variable]],
            (std::vector<uint32_t>{0, 1}));
}

TEST(Search, TwoReshardsAreEachSharedByTwoUsers) {
  CostGraph graph;
  SharedValue value;
  value.producer = graph.addVariable({bytes(0)});
  value.producedForm = {0};
  value.reform.assign(3, std::vector<Cost>(3, bytes(10)));
  for (size_t form = 0; form < 3; ++form)
    value.reform[form][form] = bytes(0);
  for (uint32_t wanted : {1, 1, 2, 2})
    value.users.push_back({graph.addVariable({bytes(0)}), {wanted}});
  EXPECT_EQ(addSharedValue(graph, value).made.size(), 4u);
  EXPECT_EQ(minimise(graph).cost, bytes(20));
}

TEST(Search, AFormIsMadeOfOneThatIsMadeOfAnother) {
  // 0 -> 1 costs 4, 1 -> 2 costs 2, 2 -> 3 costs 1; all others cost 100.
  CostGraph graph;
  SharedValue value;
  value.producer = graph.addVariable({bytes(0)});
  value.producedForm = {0};
  value.reform.assign(4, std::vector<Cost>(4, bytes(100)));
  for (size_t form = 0; form < 4; ++form)
    value.reform[form][form] = bytes(0);
  value.reform[0][1] = bytes(4);
  value.reform[1][2] = bytes(2);
  value.reform[2][3] = bytes(1);
  for (uint32_t wanted : {3, 1, 2})
    value.users.push_back({graph.addVariable({bytes(0)}), {wanted}});
  addSharedValue(graph, value);
  EXPECT_EQ(minimise(graph).cost, bytes(7));
}

TEST(Search, ASingleUserNeedsNoAuxiliaryVariable) {
  CostGraph graph;
  SharedValue value;
  value.producer = graph.addVariable({bytes(0)});
  value.producedForm = {0};
  value.reform = {{bytes(0), bytes(10)}, {bytes(10), bytes(0)}};
  value.users.push_back({graph.addVariable({bytes(4), bytes(0)}), {0, 1}});
  EXPECT_FALSE(addSharedValue(graph, value).hasVariable);
  EXPECT_EQ(minimise(graph).cost, bytes(4));
}

} // namespace
