//===- SingleStepTest.cpp - shardings without a single collective ---------===//
//
// Steps of plans are tested with the plans, in Simulation.cpp.
//
//===----------------------------------------------------------------------===//
#include "passes/plan/reshard/SingleStep.h"
#include "sharding/ShardingText.h"

#include <gtest/gtest.h>

using namespace pcc::dist;
using namespace pcc::plan;

namespace {

const Mesh mesh{{{"mb", 2}, {"x", 2}, {"y", 6}}};

/// Returns the kind of the single step, or the error.
std::string step(const std::string &from, const std::string &to) {
  const Shape shape{12, 12};
  auto start = parseSharding(from, mesh, shape),
       end = parseSharding(to, mesh, shape);
  if (!start || !end)
    return "cannot parse";
  auto found = singleStep(*start, *end, shape, 4, mesh);
  return found ? toString(found->kind) : found.status().message();
}

TEST(SingleStep, EqualPlacementsNeedNone) {
  EXPECT_EQ(step("[x,-]", "[x,-]"), "a tensor needs no collective");
  EXPECT_EQ(step("[x,-] partial sum(mb)", "[x,-]"),
            "a tensor needs no collective");
}

TEST(SingleStep, AReductionMovesNothingElse) {
  EXPECT_EQ(step("[-,-] partial sum(x)", "[-,-]"), "all_reduce");
  EXPECT_EQ(step("[-,-] partial sum(x)", "[x,-]"), "reduce_scatter");
  EXPECT_EQ(step("[y,-] partial sum(x)", "[-,y]"),
            "a tensor needs more than one collective");
  EXPECT_EQ(step("[-,-] partial sum(x)", "[y,-]"),
            "a tensor needs more than one collective");
}

TEST(SingleStep, AMaskMovesNothing) {
  EXPECT_EQ(step("[-,-]", "[-,-] partial sum(x)"), "mask");
  EXPECT_EQ(step("[-,-]", "[y,-] partial sum(x)"),
            "a tensor needs more than one collective");
  EXPECT_EQ(step("[-,-] partial sum(x)", "[-,-] partial sum(y)"),
            "a tensor needs more than one collective");
}

TEST(SingleStep, APartialValueKeepsItsReduction) {
  EXPECT_EQ(step("[-,-] partial sum(x)", "[-,-] partial max(x)"),
            "a partial value cannot change its kind of reduction");
}

TEST(SingleStep, PartsThatDoNotAlignTakeTwoSteps) {
  EXPECT_EQ(step("[y:(1)2,-]", "[y:(1)3,-]"),
            "a tensor needs more than one collective");
}

} // namespace
