//===- all-pairs-test.cpp - Every pair of shardings on small meshes -------===//
#include "dialects/dist/ShardingText.h"
#include "test/passes/plan/reshard/Simulation.h"

#include <gtest/gtest.h>

#include <algorithm>

using namespace pcc::dist;
using namespace pcc::plan;

namespace {

/// Every way to put each digit, in any order, on a dim, on the partial list, or
/// nowhere.
void enumerate(const SubAxes &left, bool withPartial, const Shape &shape,
               std::vector<SubAxes> &perDim, std::vector<Partial> &partials,
               std::vector<Sharding> &out) {
  Sharding sharding;
  for (size_t d = 0; d < shape.size(); ++d)
    sharding.dims.push_back(splitOver(shape[d], perDim[d]));
  sharding.partials = partials;
  out.push_back(canonical(sharding));
  for (size_t i = 0; i < left.size(); ++i) {
    SubAxes rest = left;
    rest.erase(rest.begin() + static_cast<long>(i));
    for (size_t d = 0; d < shape.size(); ++d) {
      perDim[d].push_back(left[i]);
      enumerate(rest, withPartial, shape, perDim, partials, out);
      perDim[d].pop_back();
    }
    if (withPartial) {
      partials.push_back({left[i], ReductionKind::Sum});
      enumerate(rest, withPartial, shape, perDim, partials, out);
      partials.pop_back();
    }
  }
}

std::vector<Sharding> allShardings(const SubAxes &digits, const Shape &shape,
                                   bool withPartial) {
  std::vector<Sharding> found;
  std::vector<SubAxes> perDim(shape.size());
  std::vector<Partial> partials;
  enumerate(digits, withPartial, shape, perDim, partials, found);
  std::vector<Sharding> unique;
  for (const Sharding &sharding : found)
    if (std::find(unique.begin(), unique.end(), sharding) == unique.end())
      unique.push_back(sharding);
  return unique;
}

struct Case {
  const char *name;
  Mesh mesh;
  SubAxes digits;
  Shape shape;
};

/// Received bytes of: reduce everything, gather everything, then slice.
int64_t gatherThenSlice(const Sharding &from, const Case &c, int64_t bytes) {
  Sharding reduced = from;
  reduced.partials.clear();
  int64_t ranks = numParts(partialAxes(from)),
          local = numElements(localShape(from, c.shape)) * bytes;
  return 2 * (ranks - 1) * local / ranks +
         bytes * movementLowerBound(reduced, Sharding::whole(c.shape.size()),
                                    c.shape, c.mesh);
}

void PrintTo(const Case &c, std::ostream *out) { *out << c.name; }

class AllPairs : public testing::TestWithParam<Case> {};

TEST_P(AllPairs, MovementsAreOneStepAtTheLowerBound) {
  const Case &c = GetParam();
  int64_t planned = 0, gathered = 0, pairs = 0;
  std::map<std::string, int> kinds;
  for (const Sharding &from : allShardings(c.digits, c.shape, false))
    for (const Sharding &to : allShardings(c.digits, c.shape, false)) {
      ReshardPlan plan = planReshard(from, to, c.shape, 4, c.mesh);
      std::string text =
          toString(from, &c.mesh) + " -> " + toString(to, &c.mesh);
      EXPECT_EQ(simulate(plan, from, to, c.shape, 4, c.mesh), "") << text;
      EXPECT_LE(plan.calls, 1) << text;
      EXPECT_EQ(plan.receivedBytes,
                4 * movementLowerBound(from, to, c.shape, c.mesh))
          << text;
      EXPECT_LE(plan.receivedBytes, gatherThenSlice(from, c, 4)) << text;
      planned += plan.receivedBytes;
      gathered += gatherThenSlice(from, c, 4);
      ++pairs;
      for (const ReshardStep &step : plan.steps)
        ++kinds[toString(step.kind)];
    }
  std::string counts;
  for (const auto &[kind, count] : kinds)
    counts += " " + kind + " " + std::to_string(count);
  RecordProperty("pairs", std::to_string(pairs));
  RecordProperty("bytesOfGatherThenSlice",
                 std::to_string(double(gathered) / double(planned)));
  RecordProperty("steps", counts);
}

TEST_P(AllPairs, ReductionsAreNeverAboveReduceThenGather) {
  const Case &c = GetParam();
  for (const Sharding &from : allShardings(c.digits, c.shape, true)) {
    if (!isPartial(from))
      continue;
    for (const Sharding &to : allShardings(c.digits, c.shape, false)) {
      ReshardPlan plan = planReshard(from, to, c.shape, 4, c.mesh);
      std::string text =
          toString(from, &c.mesh) + " -> " + toString(to, &c.mesh);
      EXPECT_EQ(simulate(plan, from, to, c.shape, 4, c.mesh), "") << text;
      EXPECT_LE(plan.receivedBytes, gatherThenSlice(from, c, 4)) << text;
    }
  }
}

TEST_P(AllPairs, PartialAxesMayStayOrAppear) {
  const Case &c = GetParam();
  std::vector<Sharding> all = allShardings(c.digits, c.shape, true);
  for (size_t i = 0; i < all.size(); ++i)
    for (size_t j = i % 3; j < all.size(); j += 3) {
      ReshardPlan plan = planReshard(all[i], all[j], c.shape, 4, c.mesh);
      EXPECT_EQ(simulate(plan, all[i], all[j], c.shape, 4, c.mesh), "")
          << toString(all[i], &c.mesh) << " -> " << toString(all[j], &c.mesh);
    }
}

const Mesh line{{{"x", 4}}}, square{{{"x", 2}, {"y", 2}}},
    wide{{{"x", 4}, {"y", 2}}}, odd{{{"x", 3}, {"y", 2}}};
const SubAxes halves = {{"x", 1, 2}, {"x", 2, 2}};

INSTANTIATE_TEST_SUITE_P(
    Meshes, AllPairs,
    testing::Values(
        Case{"line_1d", line, halves, {8}},
        Case{"line_1d_uneven", line, halves, {10}},
        Case{"line_2d", line, halves, {8, 4}},
        Case{"line_2d_short", line, halves, {2, 3}},
        Case{"square_2d", square, {{"x", 1, 2}, {"y", 1, 2}}, {4, 8}},
        Case{"square_2d_uneven", square, {{"x", 1, 2}, {"y", 1, 2}}, {5, 3}},
        Case{"wide_1d", wide, {{"x", 1, 4}, {"y", 1, 2}}, {16}},
        Case{"wide_2d", wide, {{"x", 1, 4}, {"y", 1, 2}}, {8, 16}},
        Case{"wide_2d_uneven", wide, {{"x", 1, 4}, {"y", 1, 2}}, {10, 7}},
        Case{"wide_2d_digits",
             wide,
             {{"x", 1, 2}, {"x", 2, 2}, {"y", 1, 2}},
             {8, 8}},
        Case{"odd_2d", odd, {{"x", 1, 3}, {"y", 1, 2}}, {12, 6}},
        Case{"odd_2d_uneven", odd, {{"x", 1, 3}, {"y", 1, 2}}, {7, 4}}),
    [](const testing::TestParamInfo<Case> &info) { return info.param.name; });

} // namespace
