//===- RemedyTest.cpp - options that change a plan, and their prices ------===//

#include "passes/explain/Remedy.h"

#include <gtest/gtest.h>

using namespace pcc;
using namespace pcc::explain;
using emit::PlanPrice;

TEST(Remedy, IsTextThatCanBeCopied) {
  EXPECT_EQ(optionText({.shards = {"w=[tp,-]"}}), "--shard 'w=[tp,-]'");
  EXPECT_EQ(optionText({.stageAt = {"/a b", "c"}}),
            "--stage-at '/a b' --stage-at 'c'");
  EXPECT_EQ(optionText({.axes = {{"pp", 2}, {"tp", 4}}}), "--pp 2 --tp 4");
  EXPECT_EQ(optionText({.omitted = "--shard 'w=[-,-]'"}),
            "without --shard 'w=[-,-]'");
}

TEST(Remedy, TellsWhatAPlanSavesAndCosts) {
  const PlanPrice own{
      .seconds = 2e-3, .memoryBytes = 4096, .receivedBytes = 1024};
  PlanPrice other = own;
  EXPECT_EQ(differenceText(own, other), "");
  other.seconds = 3e-3;
  EXPECT_EQ(differenceText(own, other), "costs 1.00 ms a step");
  other.memoryBytes = 2048;
  EXPECT_EQ(differenceText(own, other),
            "saves 2.0 KiB of memory a rank, costs 1.00 ms a step");
  other.receivedBytes = 512;
  EXPECT_EQ(differenceText(own, other),
            "saves 512 B received a step and 2.0 KiB of memory a rank, costs "
            "1.00 ms a step");
}

TEST(Remedy, IgnoresTimesThatNoTextShows) {
  const PlanPrice own{.seconds = 1e-3}, other{.seconds = 1e-3 + 1e-12};
  EXPECT_EQ(differenceText(own, other), "");
}
