// Tests lower bounds against exhaustive search on small graphs with cycles, and
// the search that they narrow on graphs that are too wide for elimination.

#include "passes/plan/search/DualAscent.h"
#include "passes/plan/search/Minimise.h"

#include "gtest/gtest.h"

#include <algorithm>
#include <random>

using namespace pcc::plan;

namespace {

Cost bytes(double count) { return {0, count, 0, 0}; }

/// Returns a graph of `rows` · `columns` variables with `domain` values, whose
/// neighbors in the grid pay if they differ. Some costs are forbidden, and some
/// have penalties if `hasPenalties` is true.
CostGraph grid(size_t rows, size_t columns, size_t domain, std::mt19937 &random,
               bool hasPenalties = false) {
  CostGraph graph;
  for (size_t v = 0; v < rows * columns; ++v) {
    std::vector<Cost> unary(domain);
    for (Cost &cost : unary)
      cost = {hasPenalties ? double(random() % 2) : 0, double(random() % 9), 0,
              double(random() % 5)};
    graph.addVariable(unary);
  }
  const auto price = [&](size_t i, size_t j) {
    if (i == j)
      return Cost();
    return random() % 9 == 0 ? Cost::forbidden()
                             : Cost{0, double(1 + random() % 5), 1, 0};
  };
  for (size_t row = 0; row < rows; ++row)
    for (size_t column = 0; column < columns; ++column) {
      const auto v = Variable(row * columns + column);
      if (column > 0)
        graph.addPairs(v - 1, v, price);
      if (row > 0)
        graph.addPairs(v - Variable(columns), v, price);
    }
  return graph;
}

TEST(DualAscent, BoundsAreBelowTheCostsOfAllAssignments) {
  std::mt19937 random(1);
  for (int round = 0; round < 200; ++round) {
    const CostGraph graph = grid(2, 3, 3, random);
    const Relaxation relaxed = relax(graph);
    std::vector<uint32_t> values(graph.numVariables(), 0);
    for (size_t v = 0; v < values.size();) {
      if (const Cost cost = graph.evaluate(values); !cost.isForbidden())
        for (Variable w = 0; w < values.size(); ++w)
          ASSERT_GE(relaxed.scale.of(cost) + relaxed.scale.tolerance(),
                    relaxed.bound + relaxed.excess[w][values[w]]);
      for (v = 0; v < values.size() && ++values[v] == graph.domain(Variable(v));
           ++v)
        values[v] = 0;
    }
  }
}

TEST(DualAscent, ValuesWithinTheGapHaveTheMinimum) {
  std::mt19937 random(2);
  for (int round = 0; round < 100; ++round) {
    const CostGraph graph = grid(3, 4, 4, random);
    const Assignment best = minimise(graph);
    ASSERT_TRUE(best.exact);
    const Relaxation relaxed = relax(graph);
    ASSERT_FALSE(relaxed.cost < best.cost);
    const auto kept = relaxed.valuesWithin(relaxed.gapTo(best.cost));
    for (Variable v = 0; v < graph.numVariables(); ++v)
      EXPECT_TRUE(std::find(kept[v].begin(), kept[v].end(), best.values[v]) !=
                  kept[v].end());
  }
}

TEST(DualAscent, PenaltiesComeFirst) {
  std::mt19937 random(3);
  for (int round = 0; round < 50; ++round) {
    const CostGraph graph = grid(3, 3, 3, random, /*hasPenalties=*/true);
    EXPECT_EQ(relax(graph).cost.penalty, minimise(graph).cost.penalty);
  }
}

// The table of a diagonal of 20 variables has 3^20 entries.
TEST(DualAscent, MostWideGraphsAreSolvedExactly) {
  std::mt19937 random(4);
  int exact = 0;
  for (int round = 0; round < 10; ++round) {
    const CostGraph graph = grid(20, 20, 3, random);
    const Assignment found = minimise(graph, /*tableLimit=*/1 << 16);
    EXPECT_LE(found.largestTable, size_t(1) << 16);
    EXPECT_EQ(found.cost, graph.evaluate(found.values));
    EXPECT_EQ(found.values, minimise(graph, 1 << 16).values);
    exact += found.exact;
  }
  EXPECT_GE(exact, 5);
}

TEST(DualAscent, ACompleteGraphWithOneBestAssignment) {
  // All variables agree at no cost on the only value that all can have.
  CostGraph graph;
  for (int v = 0; v < 30; ++v)
    graph.addVariable(
        {v % 2 ? bytes(1) : bytes(0), bytes(0), v % 2 ? bytes(0) : bytes(1)});
  for (Variable a = 0; a < 30; ++a)
    for (Variable b = a + 1; b < 30; ++b)
      graph.addPairs(a, b, [](size_t i, size_t j) { return bytes(i != j); });
  const Assignment found = minimise(graph);
  EXPECT_TRUE(found.exact);
  EXPECT_EQ(found.values, std::vector<uint32_t>(30, 1));
}

} // namespace
