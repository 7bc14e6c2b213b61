//===- ExpertTrafficTest.cpp - what tokens on their way cost --------------===//

#include "passes/plan/reshard/ExpertTraffic.h"

#include <gtest/gtest.h>

using namespace pcc::plan;

TEST(ChanceOfNone, CountsTheWaysToChoose) {
  // 15 of the 28 pairs of 8 experts avoid the 2 of a rank.
  EXPECT_NEAR(chanceOfNone({4, 8, 2}), 15.0 / 28, 1e-12);
  EXPECT_NEAR(chanceOfNone({8, 8, 1}), 7.0 / 8, 1e-12);
  EXPECT_EQ(chanceOfNone({4, 8, 7}), 0);
  EXPECT_EQ(chanceOfNone({4, 8, 8}), 0);
  // Seven experts on two ranks: the larger share counts.
  EXPECT_NEAR(chanceOfNone({2, 7, 1}), 3.0 / 7, 1e-12);
}

/// Returns whether routing pays for 8 experts, 2 of them chosen, and gates of 4
/// bytes.
static bool pays(int64_t ranks, double tokenBytes, int64_t chosen = 2) {
  return paysToRouteFirst({ranks, 8, chosen, 4, tokenBytes});
}

TEST(PaysToRouteFirst, FewRanksMaySendEverythingBack) {
  EXPECT_FALSE(pays(1, 4096));
  EXPECT_FALSE(pays(2, 4096));
  EXPECT_FALSE(pays(2, 4096, 1));
  EXPECT_FALSE(pays(3, 4096));
  EXPECT_TRUE(pays(4, 4096));
  EXPECT_TRUE(pays(8, 4096));
  EXPECT_FALSE(pays(4, 4096, 3));
}

TEST(PaysToRouteFirst, GatesAreNoMoreThanWhatTheySave) {
  // 9 bytes per token and rank; a third of 28 bytes is saved on the way back.
  EXPECT_TRUE(pays(4, 28));
  EXPECT_FALSE(pays(4, 26));
}

TEST(PaysToRouteFirst, HardlyAnybodyStays) {
  // 9 bytes compared with 1/28 of the sent bytes.
  EXPECT_TRUE(paysToRouteFirst({8, 16, 6, 4, 4096}));
  EXPECT_FALSE(paysToRouteFirst({8, 16, 13, 4, 4096}));
  EXPECT_FALSE(paysToRouteFirst({16, 16, 14, 4, 32}));
}
