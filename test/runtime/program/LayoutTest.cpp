//===- LayoutTest.cpp -----------------------------------------------------===//

#include "test/runtime/program/RandomLayouts.h"

#include <gtest/gtest.h>

#include <map>

using namespace pcc;
using namespace pcc::runtime;
using test::RandomLayouts;

namespace {
const Mesh tp4 = test::makeMesh({1, 4, 1});

Coordinates onTp(int64_t coordinate) { return {0, coordinate, 0}; }

using Box = std::vector<Runs>;

/// Returns the runs of a rank. All layouts here list the factors of every dim.
Box runsOf(const Layout &layout, const Mesh &mesh, const Coordinates &at) {
  return dist::runsOf(layout, std::vector<int64_t>(layout.dims.size()), mesh,
                      at);
}
} // namespace

TEST(Layout, ContiguousSplit) {
  const Layout layout = test::makeLayout({{{192, {{"tp", 1, 4}}}}});
  EXPECT_EQ(localShape(layout), std::vector<int64_t>{48});
  EXPECT_EQ(runsOf(layout, tp4, onTp(1)), (Box{{{48, 96}}}));
}

TEST(Layout, FusedQueryKeyValueHasOneRunForEach) {
  const Layout layout = test::makeLayout({{{3}, {64, {{"tp", 1, 4}}}}});
  EXPECT_EQ(runsOf(layout, tp4, onTp(1)),
            (Box{{{16, 32}, {80, 96}, {144, 160}}}));
}

TEST(Layout, UnevenHeadsEndShort) {
  const Layout layout = test::makeLayout({{{30, {{"tp", 1, 4}}}, {64}}});
  EXPECT_EQ(localShape(layout), std::vector<int64_t>{512});
  EXPECT_EQ(runsOf(layout, tp4, onTp(3)),
            (Box{{{int64_t{24} * 64, int64_t{30} * 64}}}));
}

TEST(Layout, SubAxisLetsNeighboursShareAHead) {
  const Layout layout = test::makeLayout({{{2, {{"tp", 1, 2}}}, {64}}});
  EXPECT_EQ(runsOf(layout, tp4, onTp(0)), (Box{{{0, 64}}}));
  EXPECT_EQ(runsOf(layout, tp4, onTp(1)), (Box{{{0, 64}}}));
  EXPECT_EQ(runsOf(layout, tp4, onTp(2)), (Box{{{64, 128}}}));
}

TEST(Layout, EmptyPieceHasNoRuns) {
  const Layout layout = test::makeLayout({{{5, {{"tp", 1, 4}}}}, {{7}}});
  EXPECT_EQ(runsOf(layout, tp4, onTp(3)), (Box{{}, {{0, 7}}}));
}

TEST(Layout, ScalarIsHeldEverywhere) {
  const Layout scalar;
  const Coordinates at = onTp(2);
  const auto copies = intersect({&scalar, &at}, {&scalar, &at}, tp4);
  ASSERT_EQ(copies.size(), 1u);
  EXPECT_EQ(numElements(copies[0]), 1);
}

TEST(Layout, LowestHolderIgnoresSplitDigits) {
  const Layout replicated = test::makeLayout({{{6}}});
  const Layout halves = test::makeLayout({{{6, {{"tp", 1, 2}}}}});
  EXPECT_TRUE(isLowestHolder(replicated, tp4, onTp(0)));
  EXPECT_FALSE(isLowestHolder(replicated, tp4, onTp(1)));
  EXPECT_TRUE(isLowestHolder(halves, tp4, onTp(2)));
  EXPECT_FALSE(isLowestHolder(halves, tp4, onTp(3)));
}

TEST(Layout, FaultsAreNamed) {
  const std::vector<int64_t> shape = {8};
  const Layout twice =
      test::makeLayout({{{2, {{"tp", 1, 2}}}, {4, {{"tp", 1, 4}}}}});
  EXPECT_STREQ(findLayoutFault(twice, tp4, shape),
               "uses the same part of an axis twice");
  const Layout disjoint =
      test::makeLayout({{{2, {{"tp", 1, 2}}}, {4, {{"tp", 2, 2}}}}});
  EXPECT_EQ(findLayoutFault(disjoint, tp4, shape), nullptr);
  const Layout noAxis = test::makeLayout({{{8, {{"cp", 1, 2}}}}});
  EXPECT_STREQ(findLayoutFault(noAxis, tp4, shape),
               "names an axis that the mesh does not have");
  const Layout noDivisor = test::makeLayout({{{8, {{"tp", 1, 3}}}}});
  EXPECT_STREQ(findLayoutFault(noDivisor, tp4, shape),
               "has a sub-axis that does not divide its axis");
  // The product of both sizes is 0 in 64 bits.
  const Layout overflowing =
      test::makeLayout({{{8, {{"tp", int64_t(1) << 32, int64_t(1) << 32}}}}});
  EXPECT_STREQ(findLayoutFault(overflowing, tp4, shape),
               "has a sub-axis that does not divide its axis");
  const Layout huge =
      test::makeLayout({{{int64_t(1) << 40}, {int64_t(1) << 40}}});
  EXPECT_NE(findLayoutFault(huge, tp4, shape), nullptr);
}

/// Every held element of `source` and `target` arrives at the place that a walk
/// over all global indices gives.
TEST(Layout, IntersectionEqualsBruteForce) {
  for (uint64_t seed = 0; seed < 2000; ++seed) {
    RandomLayouts random(seed);
    const Mesh &mesh = random.mesh();
    const std::vector<int64_t> shape = random.shape();
    const Layout source = random.layout(shape), target = random.layout(shape);
    ASSERT_EQ(findLayoutFault(source, mesh, shape), nullptr);
    const Coordinates from = random.coordinates(), to = random.coordinates();

    const auto held = pcc::test::localOffsets(source, mesh, from);
    const auto wanted = pcc::test::localOffsets(target, mesh, to);
    std::map<int64_t, int64_t> expected;
    for (const auto &[global, local] : wanted)
      if (held.count(global))
        expected[local] = held.at(global);

    std::vector<int64_t> local(numElements(localShape(source)));
    for (size_t i = 0; i < local.size(); ++i)
      local[i] = int64_t(i);
    std::vector<int64_t> moved(numElements(localShape(target)), -1);
    for (const StridedCopy &copy :
         intersect({&source, &from}, {&target, &to}, mesh))
      runCopy(copy, local.data(), moved.data(), sizeof(int64_t));
    for (size_t i = 0; i < moved.size(); ++i) {
      const auto found = expected.find(int64_t(i));
      ASSERT_EQ(moved[i], found == expected.end() ? -1 : found->second)
          << "seed " << seed;
    }
  }
}

TEST(Layout, RunsEqualBruteForce) {
  for (uint64_t seed = 0; seed < 2000; ++seed) {
    RandomLayouts random(seed);
    const Layout layout = random.layout({random.shape()[0]});
    const Coordinates at = random.coordinates();
    std::vector<int64_t> walked, listed;
    for (const auto &[global, local] :
         pcc::test::localOffsets(layout, random.mesh(), at))
      walked.push_back(global);
    const auto runs = runsOf(layout, random.mesh(), at);
    for (size_t i = 0; i < runs[0].size(); ++i) {
      if (i > 0)
        ASSERT_LT(runs[0][i - 1].hi, runs[0][i].lo);
      for (int64_t index = runs[0][i].lo; index < runs[0][i].hi; ++index)
        listed.push_back(index);
    }
    ASSERT_EQ(walked, listed) << "seed " << seed;
  }
}
