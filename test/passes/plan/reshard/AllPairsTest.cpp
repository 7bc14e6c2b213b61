//===- AllPairsTest.cpp - Every pair of shardings on small meshes ---------===//
#include "sharding/ShardingText.h"
#include "test/passes/plan/reshard/AllShardings.h"
#include "test/passes/plan/reshard/Simulation.h"

#include <gtest/gtest.h>

#include <algorithm>

using namespace pcc::dist;
using namespace pcc::plan;

namespace {

struct Case {
  const char *name;
  Mesh mesh;
  SubAxes digits;
  Shape shape;
};

void PrintTo(const Case &c, std::ostream *out) { *out << c.name; }

/// Divisible by all numbers of ranks in these tests, so that volumes are exact.
constexpr int64_t elementBytes = 24;

/// Sums over pairs, in bytes. bench/reshard_bytes.py prints them as properties.
struct Totals {
  int64_t pairs = 0, planned = 0, gathered = 0, bound = 0;
  /// Planned bytes over the bound; pairs without a bound are left out.
  double ratios = 0, worst = 0;
  int64_t numRatios = 0;

  void add(int64_t bytes, int64_t naive, int64_t least) {
    ++pairs;
    planned += bytes;
    gathered += naive;
    bound += least;
    if (least == 0)
      return;
    const double ratio = double(bytes) / double(least);
    ratios += ratio;
    worst = std::max(worst, ratio);
    ++numRatios;
  }

  double meanRatio() const { return numRatios ? ratios / numRatios : 1; }

  void record(const Case &c) const {
    const double whole = double(numElements(c.shape) * elementBytes * pairs);
    auto property = [](const char *name, double value) {
      testing::Test::RecordProperty(name, std::to_string(value));
    };
    testing::Test::RecordProperty("mesh", c.name);
    testing::Test::RecordProperty("rank", static_cast<int>(c.shape.size()));
    testing::Test::RecordProperty("pairs", static_cast<int>(pairs));
    property("planner", double(planned) / whole);
    property("gather", double(gathered) / whole);
    property("bound", double(bound) / whole);
    property("ratio", meanRatio());
    property("worst", worst);
  }
};

class AllPairs : public testing::TestWithParam<Case> {
protected:
  /// Plans `from` -> `to`, checks the conditions that hold for any pair, and
  /// counts it. Executing a plan takes time, so only some of many pairs are
  /// executed.
  ReshardPlan check(const Sharding &from, const Sharding &to, int64_t bound,
                    bool executes) {
    const Case &c = GetParam();
    ReshardPlan plan = planReshard(from, to, c.shape, elementBytes, c.mesh);
    const int64_t naive = gatherThenSlice(from, c.shape, elementBytes, c.mesh);
    if (executes)
      EXPECT_EQ(simulate(plan, from, to, c.shape, elementBytes, c.mesh), "")
          << text(from, to);
    EXPECT_TRUE(plan.possible()) << text(from, to) << ": " << plan.error;
    EXPECT_LE(plan.receivedBytes, naive) << text(from, to);
    totals.add(plan.receivedBytes, naive, bound);
    return plan;
  }

  static std::string text(const Sharding &from, const Sharding &to) {
    const Mesh &mesh = GetParam().mesh;
    return toString(from, &mesh) + " -> " + toString(to, &mesh);
  }

  /// One out of this many pairs is executed. It is a prime, so that every
  /// sharding gets its turn.
  static int64_t stride(size_t sources, size_t targets) {
    return sources * targets > 6000 ? 17 : sources * targets > 1500 ? 5 : 1;
  }

  Totals totals;
};

TEST_P(AllPairs, MovementsAreOneStepAtTheLowerBound) {
  const Case &c = GetParam();
  const std::vector<Sharding> all = allShardings(c.digits, c.shape, false);
  const int64_t every = stride(all.size(), all.size());
  for (const Sharding &from : all)
    for (const Sharding &to : all) {
      const int64_t bound =
          elementBytes * movementLowerBound(from, to, c.shape, c.mesh);
      ReshardPlan plan = check(from, to, bound, totals.pairs % every == 0);
      EXPECT_LE(plan.calls, 1) << text(from, to);
      EXPECT_EQ(plan.receivedBytes, bound) << text(from, to);
    }
  totals.record(c);
}

TEST_P(AllPairs, ReductionsAreNearTheirLowerBound) {
  const Case &c = GetParam();
  std::vector<Sharding> partial = allShardings(c.digits, c.shape, true);
  std::erase_if(partial, [](const Sharding &s) { return !isPartial(s); });
  const std::vector<Sharding> whole = allShardings(c.digits, c.shape, false);
  const int64_t every = stride(partial.size(), whole.size());
  for (const Sharding &from : partial)
    for (const Sharding &to : whole)
      check(from, to,
            elementBytes * reductionLowerBound(from, to, c.shape, c.mesh),
            totals.pairs % every == 0);
  EXPECT_LE(totals.meanRatio(), 1.9);
  totals.record(c);
}

TEST_P(AllPairs, ReductionsAreAsCheapAsAnySequenceOfSteps) {
  const Case &c = GetParam();
  const std::vector<Sharding> all = allShardings(c.digits, c.shape, true);
  if (all.size() > 70)
    GTEST_SKIP() << "too many sequences";
  for (const Sharding &from : all)
    for (const Sharding &to : all) {
      if (!isPartial(from) || isPartial(to))
        continue;
      const int64_t least = cheapestReduction(from, to, all, c.digits, c.shape,
                                              elementBytes, c.mesh);
      ReshardPlan plan = check(from, to, least, /*executes=*/false);
      EXPECT_LE(plan.receivedBytes, 2 * least) << text(from, to);
    }
  EXPECT_LE(totals.meanRatio(), 1.06);
  totals.record(c);
}

TEST_P(AllPairs, PartialAxesMayStayOrAppear) {
  const Case &c = GetParam();
  std::vector<Sharding> all = allShardings(c.digits, c.shape, true);
  const size_t every = all.size() > 200 ? 127 : all.size() > 100 ? 41 : 3;
  for (size_t i = 0; i < all.size(); ++i)
    for (size_t j = i % every; j < all.size(); j += every) {
      ReshardPlan plan = planReshard(all[i], all[j], c.shape, 4, c.mesh);
      EXPECT_EQ(simulate(plan, all[i], all[j], c.shape, 4, c.mesh), "")
          << text(all[i], all[j]);
    }
}

const SubAxis x2{"x", 1, 2}, x3{"x", 1, 3}, x4{"x", 1, 4}, y2{"y", 1, 2},
    z2{"z", 1, 2};
const Mesh line{{{"x", 4}}}, square{{{"x", 2}, {"y", 2}}},
    wide{{{"x", 4}, {"y", 2}}}, cube{{{"x", 2}, {"y", 2}, {"z", 2}}},
    odd{{{"x", 3}, {"y", 2}}};
/// The two halves of an axis of 4, as sub-axes.
const SubAxes halves = {{"x", 1, 2}, {"x", 2, 2}};

INSTANTIATE_TEST_SUITE_P(
    Meshes, AllPairs,
    testing::Values(
        Case{"mesh4_even1", line, halves, {8}},
        Case{"mesh4_uneven1", line, halves, {10}},
        Case{"mesh4_even2", line, halves, {8, 4}},
        Case{"mesh4_short2", line, halves, {2, 3}},
        Case{"mesh4_even3", line, halves, {4, 8, 4}},
        Case{"mesh4_uneven3", line, halves, {5, 3, 6}},
        Case{"mesh2x2_even1", square, {x2, y2}, {8}},
        Case{"mesh2x2_uneven1", square, {x2, y2}, {7}},
        Case{"mesh2x2_even2", square, {x2, y2}, {4, 8}},
        Case{"mesh2x2_uneven2", square, {x2, y2}, {5, 3}},
        Case{"mesh2x2_even3", square, {x2, y2}, {4, 4, 8}},
        Case{"mesh2x2_uneven3", square, {x2, y2}, {3, 5, 2}},
        Case{"mesh4x2_even1", wide, {x4, y2}, {16}},
        Case{"mesh4x2_uneven1", wide, {x4, y2}, {9}},
        Case{"mesh4x2_even2", wide, {x4, y2}, {8, 16}},
        Case{"mesh4x2_uneven2", wide, {x4, y2}, {10, 7}},
        Case{"mesh4x2_digits2", wide, {halves[0], halves[1], y2}, {8, 8}},
        Case{"mesh4x2_even3", wide, {x4, y2}, {8, 8, 8}},
        Case{"mesh4x2_uneven3", wide, {x4, y2}, {5, 3, 6}},
        Case{"mesh2x2x2_even1", cube, {x2, y2, z2}, {16}},
        Case{"mesh2x2x2_uneven1", cube, {x2, y2, z2}, {11}},
        Case{"mesh2x2x2_even2", cube, {x2, y2, z2}, {8, 8}},
        Case{"mesh2x2x2_uneven2", cube, {x2, y2, z2}, {5, 6}},
        Case{"mesh2x2x2_even3", cube, {x2, y2, z2}, {8, 8, 8}},
        Case{"mesh2x2x2_uneven3", cube, {x2, y2, z2}, {3, 5, 2}},
        Case{"mesh3x2_even1", odd, {x3, y2}, {12}},
        Case{"mesh3x2_uneven1", odd, {x3, y2}, {7}},
        Case{"mesh3x2_even2", odd, {x3, y2}, {12, 6}},
        Case{"mesh3x2_uneven2", odd, {x3, y2}, {7, 4}},
        Case{"mesh3x2_even3", odd, {x3, y2}, {6, 6, 6}},
        Case{"mesh3x2_uneven3", odd, {x3, y2}, {5, 4, 3}}),
    [](const testing::TestParamInfo<Case> &info) { return info.param.name; });

} // namespace
