//===- HoistTest.cpp - what is run once and what is held ------------------===//

#include "passes/plan/memory/Hoist.h"

#include "gtest/gtest.h"

using namespace pcc::plan;

namespace {

const StageOp weight{
    .operands = {}, .isShared = true, .isView = true, .resultBytes = 4};

StageOp gatherOf(int operand) {
  return {.operands = {operand},
          .isShared = true,
          .communicates = true,
          .readBytes = 4,
          .resultBytes = 8};
}

StageOp sharedOf(int operand, int64_t readBytes, int64_t resultBytes) {
  return {.operands = {operand},
          .isShared = true,
          .readBytes = readBytes,
          .resultBytes = resultBytes};
}

StageOp perMicrobatch(std::vector<int> operands) {
  return {.operands = std::move(operands), .resultBytes = 8};
}

/// Formats a choice. O: runs once, H: is also held, E: runs for each
/// microbatch, B: both, .: neither.
std::string text(const Hoisting &hoisting) {
  std::string line;
  for (size_t i = 0; i < hoisting.isHeld.size(); ++i)
    line += hoisting.isHeld[i]                             ? 'H'
            : hoisting.runsOnce[i] && hoisting.runsEach[i] ? 'B'
            : hoisting.runsOnce[i]                         ? 'O'
            : hoisting.runsEach[i]                         ? 'E'
                                                           : '.';
  return line;
}

TEST(Hoist, AGatheredWeightIsHeld) {
  EXPECT_EQ(text(chooseHoisting({weight, gatherOf(0), perMicrobatch({1})})),
            "OHE");
}

TEST(Hoist, OnlyTheLastOfAChainIsHeld) {
  EXPECT_EQ(text(chooseHoisting(
                {weight, gatherOf(0), sharedOf(1, 8, 4), perMicrobatch({2})})),
            "OOHE");
}

TEST(Hoist, WhatGrowsIsMadeAgainFromWhatIsHeld) {
  EXPECT_EQ(text(chooseHoisting(
                {weight, gatherOf(0), sharedOf(1, 8, 64), perMicrobatch({2})})),
            "OHEE");
}

TEST(Hoist, ALeafOfBothRunsBothWays) {
  EXPECT_EQ(text(chooseHoisting({weight, gatherOf(0), perMicrobatch({0, 1})})),
            "BHE");
}

TEST(Hoist, WhatNobodyNeedsDoesNotRun) {
  EXPECT_EQ(text(chooseHoisting({weight, gatherOf(0), perMicrobatch({})})),
            "..E");
}

TEST(Hoist, AnOutputIsNeeded) {
  StageOp output = gatherOf(0);
  output.isOutput = true;
  EXPECT_EQ(text(chooseHoisting({weight, output})), "OH");
}

TEST(Hoist, WhatDoesNotFitIsReceivedAgain) {
  const std::vector<StageOp> ops{weight, gatherOf(0), weight, gatherOf(2),
                                 perMicrobatch({1, 3})};
  EXPECT_EQ(text(chooseHoisting(ops, 16)), "OHOHE");
  EXPECT_EQ(text(chooseHoisting(ops, 15)), "EEOHE");
  EXPECT_EQ(text(chooseHoisting(ops, 7)), "EEEEE");
}

/// Held values count, not the values from which they are computed.
TEST(Hoist, ALimitCountsWhatIsHeldOnly) {
  const std::vector<StageOp> ops{weight, gatherOf(0), sharedOf(1, 8, 4),
                                 perMicrobatch({2})};
  EXPECT_EQ(text(chooseHoisting(ops, 4)), "OOHE");
  EXPECT_EQ(text(chooseHoisting(ops, 3)), "EEEE");
}

} // namespace
