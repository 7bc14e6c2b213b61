//===- SubAxisTest.cpp - The algebra of sub-axes --------------------------===//
#include "sharding/SubAxis.h"

#include <gtest/gtest.h>

using namespace pcc::dist;

namespace {

const Mesh mesh{{{"dp", 2}, {"tp", 8}}};
const SubAxis abc{"tp", 1, 8}, a{"tp", 1, 2}, b{"tp", 2, 2}, c{"tp", 4, 2},
    ab{"tp", 1, 4}, bc{"tp", 2, 4};

TEST(Mesh, RanksCountMinorAxisFirst) {
  EXPECT_EQ(mesh.size(), 16);
  EXPECT_EQ(mesh.coordinates(13), (Coordinates{1, 5}));
  EXPECT_EQ(mesh.rankOf({1, 5}), 13);
  EXPECT_EQ((Mesh{{{"mb", 4}, {"tp", 2}}}).spatial().size(), 2);
}

TEST(SubAxis, OverlapsAreCommonDigits) {
  EXPECT_EQ(overlap(ab, bc), b);
  EXPECT_EQ(overlap(abc, c), c);
  EXPECT_FALSE(overlap(a, bc));
  EXPECT_FALSE(overlaps(a, SubAxis{"dp", 1, 2}));
}

TEST(SubAxis, ContainmentIsOfAllDigits) {
  EXPECT_TRUE(contains(abc, b));
  EXPECT_FALSE(contains(b, abc));
}

TEST(SubAxis, HalvesAndThirdsCannotCoexist) {
  EXPECT_FALSE(canCoexist({"x", 1, 2}, {"x", 1, 3}));
  EXPECT_TRUE(canCoexist(ab, bc));
}

TEST(SubAxis, WithoutKeepsBothEnds) {
  EXPECT_EQ(without(abc, b), (SubAxes{a, c}));
  EXPECT_EQ(without(ab, bc), (SubAxes{a}));
  EXPECT_EQ(without(ab, abc), SubAxes{});
  EXPECT_EQ(without(a, c), SubAxes{a});
}

TEST(SubAxis, MergeJoinsNeighbours) {
  EXPECT_TRUE(canMerge(a, bc));
  EXPECT_FALSE(canMerge(a, c));
  EXPECT_EQ(merge(a, bc), abc);
  EXPECT_EQ(mergeNeighbours({a, b, {"dp", 1, 2}, {"dp", 2, 1}}),
            (SubAxes{ab, {"dp", 1, 2}}));
  EXPECT_EQ(mergeNeighbours({b, a}), (SubAxes{b, a}));
}

TEST(SubAxis, CoordinatesAreDigitsOfTheAxis) {
  Coordinates where = {1, 6}; // 6 = 110
  EXPECT_EQ(coordinateOf(a, mesh, where), 1);
  EXPECT_EQ(coordinateOf(c, mesh, where), 0);
  EXPECT_EQ(coordinateOf(bc, mesh, where), 2);
  EXPECT_EQ(coordinateOf(SubAxes{c, a, {"dp", 1, 2}}, mesh, where), 3);
}

TEST(SubAxis, GroupsDifferAlongTheirAxesOnly) {
  Mesh small{{{"dp", 2}, {"tp", 4}}};
  using Groups = std::vector<std::vector<int64_t>>;
  EXPECT_EQ(groupsOf(small, {{"tp", 1, 4}}),
            (Groups{{0, 1, 2, 3}, {4, 5, 6, 7}}));
  EXPECT_EQ(groupsOf(small, {{"dp", 1, 2}}),
            (Groups{{0, 4}, {1, 5}, {2, 6}, {3, 7}}));
  EXPECT_EQ(groupsOf(small, {{"tp", 2, 2}}),
            (Groups{{0, 1}, {2, 3}, {4, 5}, {6, 7}}));
  EXPECT_EQ(groupsOf(small, {{"tp", 1, 2}, {"dp", 1, 2}}),
            (Groups{{0, 4, 2, 6}, {1, 5, 3, 7}}));
  EXPECT_EQ(groupsOf(small, {}).size(), 8u);
}

} // namespace
