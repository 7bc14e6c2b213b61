//===- ReshardTest.cpp - Named plans and their bytes ----------------------===//
#include "passes/plan/reshard/ClusterPrices.h"
#include "sharding/ShardingText.h"
#include "test/passes/plan/reshard/Simulation.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace pcc::dist;
using namespace pcc::plan;

namespace {

/// A tensor on a mesh; shardings are given as text.
struct Setting {
  Mesh mesh;
  Shape shape;
  Prices prices = {};

  Sharding parse(const std::string &text) const {
    auto sharding = parseSharding(text, mesh, shape);
    EXPECT_TRUE(sharding) << text << ": " << sharding.status().message();
    return sharding ? *sharding : Sharding::whole(shape.size());
  }

  /// Returns the kinds and axes of the plan, which is simulated unless the mesh
  /// has a time axis.
  std::string plan(const std::string &from, const std::string &to,
                   int64_t *bytes = nullptr) const {
    Sharding start = parse(from), end = parse(to);
    ReshardPlan plan = planReshard(start, end, shape, 1, mesh, prices);
    if (!plan.possible())
      return plan.error;
    if (mesh.spatial() == mesh)
      EXPECT_EQ(simulate(plan, start, end, shape, 1, mesh), "")
          << from << " -> " << to;
    if (bytes)
      *bytes = plan.receivedBytes;
    std::string text;
    for (const ReshardStep &step : plan.steps) {
      text += (text.empty() ? "" : ", ") + std::string(toString(step.kind));
      for (const SubAxis &axis : step.axes)
        text += " " + toString(axis, &mesh);
    }
    return text;
  }

  int64_t bytes(const std::string &from, const std::string &to) const {
    int64_t bytes = -1;
    plan(from, to, &bytes);
    return bytes;
  }
};

const Setting one{{{{"t", 4}}}, {8, 12}};
const Setting two{{{{"x", 4}, {"y", 2}}}, {16, 16, 16}};

TEST(Movement, NamedPatternsAreNamedCollectives) {
  EXPECT_EQ(one.plan("[t,-]", "[t,-]"), "");
  EXPECT_EQ(one.plan("[-,-]", "[t,-]"), "slice");
  EXPECT_EQ(one.plan("[t,-]", "[-,-]"), "all_gather t");
  EXPECT_EQ(one.plan("[t,-]", "[-,t]"), "all_to_all t");
  EXPECT_EQ(one.plan("[t,-]", "[t:(2)2+t:(1)2,-]"), "permute t");
  EXPECT_EQ(one.plan("[t,-]", "[t:(1)2,-]"), "all_gather t:(2)2");
  EXPECT_EQ(one.plan("[-,12@t]", "[-,3|4@t]"), "exchange t");
}

TEST(Movement, GathersOfBothDimsAreOneCall) {
  EXPECT_EQ(two.plan("[x,y,-]", "[-,-,-]"), "all_gather x y");
  EXPECT_EQ(two.plan("[x+y,-,-]", "[x,-,-]"), "all_gather y");
}

TEST(Movement, SlicesComeFirstWhereTheyMakeACollective) {
  EXPECT_EQ(two.plan("[x,-,-]", "[-,x+y,-]"), "slice, all_to_all x");
  EXPECT_EQ(two.plan("[x,-,-]", "[-,y,-]"), "slice, all_gather x");
}

TEST(Movement, TwoAxesJoinAtTheLowerBound) {
  EXPECT_EQ(two.plan("[y,-,x]", "[-,x+y,-]"), "all_to_all x y");
  EXPECT_EQ(two.bytes("[y,-,x]", "[-,x+y,-]"), 4096 / 8 * 7 / 8);
  EXPECT_EQ(two.bytes("[x,y,-]", "[y,x,-]"), 4096 / 8);
}

TEST(Movement, FusedWeightsCostTheirLowerBound) {
  // Received bytes from contiguous [q|k|v] to a part of each: 1/3, 2/3, 2/3, 1
  // and 1 of the local size.
  const std::vector<std::pair<int64_t, double>> expected = {
      {2, 1 / 3.}, {3, 2 / 3.}, {4, 2 / 3.}, {6, 1}, {8, 1}};
  for (auto [t, part] : expected) {
    Setting fused{{{{"t", t}}}, {4, 144}};
    int64_t local = int64_t{4} * 144 / t;
    EXPECT_EQ(fused.bytes("[-,144@t]", "[-,3|48@t]"),
              std::llround(part * double(local)))
        << t;
  }
}

TEST(Movement, UnevenShardsCountRealElementsOnly) {
  Setting uneven{{{{"t", 4}}}, {10, 7}};
  // Rank 0 receives 2 columns of 10 rows and holds 3 of these rows. The last
  // rank receives 1 column and holds 1 row.
  EXPECT_EQ(uneven.plan("[t,-]", "[-,t]"), "all_to_all t");
  EXPECT_EQ(uneven.bytes("[t,-]", "[-,t]"), 14);
  // The last rank receives the most: all but its one row.
  EXPECT_EQ(uneven.bytes("[t,-]", "[-,-]"), 9 * 7);
}

TEST(Movement, SubAxesThatDoNotAlignGoByWayOfTheWhole) {
  Setting six{{{{"x", 6}}}, {12}};
  EXPECT_EQ(six.plan("[x:(1)2]", "[x:(1)3]"), "all_gather x:(1)2, slice");
}

TEST(Movement, NothingMovesBetweenMicrobatches) {
  Setting time{{{{"mb", 4}, {"t", 2}}}, {8, 8}};
  EXPECT_EQ(time.plan("[mb,-]", "[-,-]"),
            "elements would move between microbatches");
  EXPECT_EQ(time.plan("[mb+t,-]", "[mb,t]"), "all_to_all t");
  EXPECT_EQ(time.bytes("[mb+t,-]", "[mb,t]"), 4);
  EXPECT_EQ(time.plan("[-,-] partial sum(mb+t)", "[-,-]"), "all_reduce t");
}

TEST(Prices, DependOnKindAndNetwork) {
  const char *file = R"(links = [
    { level = "node", span = 8, alpha_us = 1, beta_gbps = 100 },
    { level = "net", span = 1024, alpha_us = 10, beta_gbps = 10 } ])";
  // Ranks along d are 4 apart, so that their group spans 16 ranks.
  const Mesh mesh{{{"mb", 8}, {"d", 4}, {"t", 4}}};
  const Prices prices = pricesOf(file, "cpu", mesh);
  EXPECT_DOUBLE_EQ(
      prices.seconds(CollectiveKind::AllGather, {{"t", 1, 4}}, 1000),
      1e-6 + 1000 / 100e9);
  EXPECT_DOUBLE_EQ(prices.seconds(CollectiveKind::Exchange,
                                  {{"d", 1, 4}, {"t", 1, 4}}, 1000),
                   10e-6 + 1000 / 10e9);
  EXPECT_DOUBLE_EQ(
      prices.seconds(CollectiveKind::AllGather, {{"d", 2, 2}}, 1000),
      1e-6 + 1000 / 100e9)
      << "the minor half of d is within a node";
  EXPECT_FALSE(pricesOf("", "cpu", mesh).cluster);
}

TEST(Reduction, ToWholeIsOneAllReduce) {
  EXPECT_EQ(one.plan("[-,-] partial sum(t)", "[-,-]"), "all_reduce t");
  EXPECT_EQ(one.bytes("[-,-] partial sum(t)", "[-,-]"), 2 * 96 * 3 / 4);
  EXPECT_EQ(two.plan("[-,-,-] partial max(x+y)", "[-,-,-]"), "all_reduce x y");
}

TEST(Reduction, ToShardsIsOneReduceScatter) {
  EXPECT_EQ(one.plan("[-,-] partial sum(t)", "[-,t]"), "reduce_scatter t");
  EXPECT_EQ(one.bytes("[-,-] partial sum(t)", "[-,t]"), 96 * 3 / 4);
  EXPECT_EQ(two.plan("[-,-,-] partial sum(x+y)", "[x,y,-]"),
            "reduce_scatter x y");
  EXPECT_EQ(two.plan("[y,-,-] partial sum(x)", "[y,x,-]"), "reduce_scatter x");
}

TEST(Reduction, FreeSlicesComeFirst) {
  EXPECT_EQ(two.plan("[-,-,-] partial sum(x)", "[y+x,-,-]"),
            "slice, reduce_scatter x");
  EXPECT_EQ(two.plan("[-,-,-] partial sum(x)", "[x+y,-,-]"),
            "slice, reduce_scatter x");
  EXPECT_EQ(two.plan("[-,-,-] partial sum(x)", "[y,-,-]"),
            "slice, all_reduce x");
}

TEST(Reduction, SomeAxesScatterAndOthersReduce) {
  EXPECT_EQ(two.plan("[-,-,-] partial sum(x+y)", "[x,-,-]"),
            "reduce_scatter x, all_reduce y");
}

TEST(Reduction, UnevenShardsStayOneReduceScatter) {
  Setting uneven{{{{"t", 4}}}, {10, 7}};
  EXPECT_EQ(uneven.plan("[-,-] partial sum(t)", "[t,-]"), "reduce_scatter t");
  EXPECT_EQ(uneven.plan("[-,-] partial prod(t)", "[-,-]"), "all_reduce t");
}

TEST(Reduction, PartialValuesMoveWithoutBeingReduced) {
  EXPECT_EQ(two.plan("[y,-,-] partial sum(x)", "[-,y,-] partial sum(x)"),
            "all_to_all y");
  EXPECT_EQ(two.plan("[-,-,-]", "[-,-,-] partial sum(x)"), "mask x");
  EXPECT_EQ(two.plan("[-,-,-] partial max(x)", "[-,-,-] partial sum(x)"),
            "a partial value cannot change its kind of reduction");
}

TEST(Planner, RemembersPlans) {
  ReshardPlanner planner(one.mesh);
  Sharding from = one.parse("[t,-]"), to = one.parse("[-,t]");
  const ReshardPlan &first = planner.plan(from, to, one.shape, 4);
  EXPECT_EQ(&planner.plan(from, to, one.shape, 4), &first);
  planner.plan(from, to, one.shape, 2);
  EXPECT_EQ(planner.numPlanned(), 2u);
}

TEST(Planner, PlansOnAThousandRanks) {
  Setting large{{{{"dp", 16}, {"cp", 8}, {"tp", 8}}}, {64, 4096, 16384}};
  const std::vector<std::string> texts = {
      "[dp,cp,tp]",        "[dp+cp,-,tp]",
      "[dp,cp+tp,-]",      "[tp,-,cp]",
      "[dp+cp+tp,-,-]",    "[-,-,dp+tp]",
      "[dp,cp,4|4096@tp]", "[-,tp,-] partial sum(dp)"};
  for (const std::string &from : texts)
    for (size_t i = 0; i + 1 < texts.size(); ++i)
      EXPECT_TRUE(planReshard(large.parse(from), large.parse(texts[i]),
                              large.shape, 2, large.mesh)
                      .possible());
}

} // namespace
