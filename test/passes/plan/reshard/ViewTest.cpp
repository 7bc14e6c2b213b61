//===- ViewTest.cpp - Movements to dims seen through windows --------------===//
#include "passes/plan/reshard/Reshard.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

using namespace pcc::dist;
using namespace pcc::plan;

namespace {

const Mesh mesh{{{"t", 4}, {"u", 2}}};

/// Returns whether a rank holds the element of the dim.
bool holds(const DimSharding &dim, int64_t size, int64_t rank,
           int64_t element) {
  for (const Run &run : runsOf(dim, size, mesh, mesh.coordinates(rank)))
    if (element >= run.lo && element < run.hi)
      return true;
  return false;
}

/// Plans a movement of one dim to a view and checks it element by element.
void check(const Sharding &from, const Sharding &to, int64_t size) {
  const View &view = *to.dims[0].view;
  ReshardPlan plan = planReshard(from, to, {size}, 1, mesh);
  ASSERT_TRUE(plan.possible()) << plan.error;
  ASSERT_EQ(plan.steps.size(), 1u);
  int64_t most = 0;
  for (const std::vector<int64_t> &group : groupsOf(mesh, plan.steps[0].axes))
    for (int64_t rank : group) {
      int64_t received = 0;
      for (int64_t i = 0; i < view.size(); ++i) {
        const std::optional<int64_t> element = view.elementAt(i);
        if (!element || !holds(to.dims[0], size, rank, i))
          continue;
        EXPECT_TRUE(std::ranges::any_of(group,
                                        [&](int64_t peer) {
                                          return holds(from.dims[0], size, peer,
                                                       *element);
                                        }))
            << "index " << i << " on rank " << rank;
        received += !holds(from.dims[0], size, rank, *element);
      }
      most = std::max(most, received);
    }
  EXPECT_EQ(plan.receivedBytes, most);
}

DimSharding viewed(View view, std::vector<Factor> factors) {
  DimSharding dim;
  dim.factors = std::move(factors);
  dim.view = std::move(view);
  return dim;
}

Sharding oneDim(DimSharding dim) {
  Sharding sharding = Sharding::whole(1);
  sharding.dims[0] = std::move(dim);
  return sharding;
}

const SubAxis t{"t", 1, 4}, u{"u", 1, 2}, half{"t", 1, 2};

TEST(ReshardToView, NeighboursSendTheirEdges) {
  Sharding from = oneDim(splitOver(16, {t}));
  Sharding to =
      oneDim(viewed({4, 6, 4, 16, {{0, 6, -1, 1}}}, {{4, {t}}, {6, {}}}));
  ReshardPlan plan = planReshard(from, to, {16}, 4, mesh);
  EXPECT_EQ(plan.receivedBytes, 8);
  EXPECT_EQ(plan.steps[0].kind, CollectiveKind::Exchange);
  check(from, to, 16);
}

/// Returns the collective that moves the first `count` of 16 elements to the
/// end.
static CollectiveKind rolledBy(int64_t count) {
  Sharding to = oneDim(viewed(
      {1, 16, 0, 16, {{0, 16 - count, count, 1}, {16 - count, 16, 0, 1}}},
      {{16, {t}}}));
  check(oneDim(splitOver(16, {t})), to, 16);
  return planReshard(oneDim(splitOver(16, {t})), to, {16}, 4, mesh)
      .steps[0]
      .kind;
}

TEST(ReshardToView, WholePartsGoRound) {
  EXPECT_EQ(rolledBy(4), CollectiveKind::Permute);
  EXPECT_EQ(rolledBy(8), CollectiveKind::Permute);
  EXPECT_EQ(rolledBy(2), CollectiveKind::Exchange);
  // Both halves want the first one.
  Sharding twice = oneDim(viewed({2, 8, 0, 16, {{0, 8, 0, 1}}}, {{16, {t}}}));
  EXPECT_EQ(planReshard(oneDim(splitOver(16, {t})), twice, {16}, 4, mesh)
                .steps[0]
                .kind,
            CollectiveKind::Exchange);
}

TEST(ReshardToView, WhatAllHaveIsFree) {
  Sharding to = oneDim(viewed({1, 5, 0, 16, {{0, 5, 3, 1}}}, {{5, {t}}}));
  EXPECT_EQ(planReshard(Sharding::whole(1), to, {16}, 4, mesh).calls, 0);
}

TEST(ReshardToView, PartialSumsAreReducedFirst) {
  Sharding from = Sharding::whole(1);
  from.partials = {{t, ReductionKind::Sum}};
  Sharding to =
      oneDim(viewed({4, 6, 4, 16, {{0, 6, -1, 1}}}, {{4, {t}}, {6, {}}}));
  ReshardPlan plan = planReshard(from, to, {16}, 4, mesh);
  ASSERT_TRUE(plan.possible()) << plan.error;
  // reduce_scatter of 16 elements, then 2 of the neighbours' elements.
  EXPECT_EQ(plan.receivedBytes, 48 + 8);
}

TEST(ReshardToView, NothingMovesOnFromAView) {
  Sharding view = oneDim(viewed({1, 5, 0, 16, {{0, 5, 3, 1}}}, {{5, {t}}}));
  EXPECT_FALSE(planReshard(view, Sharding::whole(1), {16}, 4, mesh).possible());
}

TEST(ReshardToView, RandomViewsOfRandomShardings) {
  std::mt19937 random(3);
  auto below = [&](int64_t n) { return static_cast<int64_t>(random() % n); };
  const std::vector<SubAxes> splits{{}, {t}, {u}, {t, u}, {u, t}, {half}};
  for (int round = 0; round < 600; ++round) {
    int64_t size = 1 + below(20), length = 1 + below(12);
    View view{1, length, 0, size, {}};
    for (int64_t at = 0; at < length;) {
      int64_t end = std::min(length, at + 1 + below(6));
      view.pieces.push_back({at, end, below(size + 2) - 1,
                             below(3)   ? 1
                             : below(2) ? 2
                                        : -1});
      at = end + below(2);
    }
    SCOPED_TRACE(toString(view));
    check(oneDim(splitOver(size, splits[below(6)])),
          oneDim(viewed(view, {{length, splits[below(6)]}})), size);
  }
}

} // namespace
