//===- RecomputeTest.cpp - what is kept and what is made again ------------===//

#include "passes/plan/memory/Recompute.h"
#include "passes/plan/schedule/Schedules.h"

#include "gtest/gtest.h"

#include <algorithm>
#include <numeric>
#include <random>

using namespace pcc::plan;

namespace {

/// Builds a stage with one value per op: op i computes value i + 1, and value 0
/// is always available.
class Builder {
public:
  Builder() { stage.values.emplace_back(); }

  int add(std::vector<int> operands, int64_t bytes, double flops) {
    stage.ops.push_back({.operands = std::move(operands),
                         .results = {static_cast<int>(stage.values.size())},
                         .flops = flops});
    stage.values.push_back({.bytes = bytes});
    return static_cast<int>(stage.values.size()) - 1;
  }

  /// Makes the backward pass read these values, each in an op of its own.
  StageGraph read(const std::vector<int> &values) {
    for (int value : values) {
      const int now = static_cast<int>(stage.backwardBytes.size());
      ForwardValue &own = stage.values[value];
      if (own.firstRead < 0)
        own.firstRead = now;
      own.lastRead = now;
      stage.backwardBytes.push_back(0);
    }
    return stage;
  }

  StageGraph stage;
};

/// Returns all sets of values that could be kept, each completed to a valid
/// choice.
std::vector<Recomputation> allOf(const StageGraph &stage) {
  std::vector<Recomputation> all;
  for (unsigned set = 0; set < 1u << stage.ops.size(); ++set) {
    std::vector<bool> mayKeep(stage.values.size());
    for (size_t i = 0; i < stage.ops.size(); ++i)
      mayKeep[i + 1] = set >> i & 1;
    all.push_back(complete(stage, mayKeep));
  }
  return all;
}

StageGraph randomStage(std::mt19937 &random, int numOps, bool isChain) {
  auto below = [&](int bound) { return static_cast<int>(random() % bound); };
  Builder builder;
  for (int i = 0; i < numOps; ++i) {
    std::vector<int> operands{isChain ? i : below(i + 1)};
    if (!isChain && below(2))
      operands.push_back(below(i + 1));
    builder.add(operands, 1 + below(20), below(4) ? below(50) : 0);
    builder.stage.ops.back().isRepeatable = below(8) > 0;
    builder.stage.ops.back().isCheap = below(2) > 0;
  }
  std::vector<int> read;
  for (int i = numOps; i > 0; --i)
    if (below(3))
      read.push_back(i);
  builder.stage.inFlight = 1 + below(4);
  return builder.read(read);
}

std::vector<int> allOps(const StageGraph &stage) {
  std::vector<int> ops(stage.ops.size());
  std::iota(ops.begin(), ops.end(), 0);
  return ops;
}

/// Expects that each value that is read is kept, or computed by an op that runs
/// again.
void expectSound(const StageGraph &stage, const Recomputation &chosen) {
  auto isThere = [&](int value) {
    for (size_t i = 0; i < stage.ops.size(); ++i)
      if (stage.ops[i].results[0] == value)
        return chosen.isKept[value] || chosen.isRecomputed[i];
    return true;
  };
  for (size_t value = 0; value < stage.values.size(); ++value)
    EXPECT_TRUE(stage.values[value].firstRead < 0 ||
                isThere(static_cast<int>(value)))
        << "value " << value;
  for (size_t i = 0; i < stage.ops.size(); ++i) {
    if (!chosen.isRecomputed[i])
      continue;
    EXPECT_TRUE(stage.ops[i].isRepeatable);
    for (int operand : stage.ops[i].operands)
      EXPECT_TRUE(isThere(operand)) << "operand of op " << i;
  }
}

TEST(Recompute, ATransposeOfAKeptValueIsMadeAgain) {
  Builder builder;
  const int x = builder.add({0}, 8, 100), t = builder.add({x}, 8, 0);
  const StageGraph stage = builder.read({t, x});
  const Recomputation chosen = recomputeNothing(stage);
  EXPECT_EQ(chosen.isKept, (std::vector<bool>{false, true, false}));
  EXPECT_EQ(chosen.keptBytes, 8);
  EXPECT_EQ(chosen.flops, 0);
}

TEST(Recompute, OfEqualChoicesTheOneThatRunsLessIsTaken) {
  Builder builder;
  const int x = builder.add({0}, 8, 100), t = builder.add({x}, 8, 0);
  const Recomputation chosen = recomputeNothing(builder.read({t}));
  EXPECT_EQ(chosen.isKept, (std::vector<bool>{false, false, true}));
}

/// The example in Recompute.h.
TEST(Recompute, CheapOpsRunAgainAndMatmulsDoNot) {
  Builder builder;
  const int x = builder.add({0}, 8, 1000), norm = builder.add({x}, 8, 8),
            inner = builder.add({norm}, 32, 1000),
            gelu = builder.add({inner}, 32, 8);
  builder.add({gelu}, 8, 1000);
  StageGraph stage = builder.read({gelu, inner, norm, x});
  stage.ops[1].isCheap = stage.ops[3].isCheap = true;
  const Recomputation chosen = recomputeCheap(stage);
  EXPECT_EQ(chosen.isKept,
            (std::vector<bool>{false, true, false, true, false, false}));
  EXPECT_EQ(chosen.flops, 16);
  expectSound(stage, chosen);
}

TEST(Recompute, WhatCannotRunAgainIsKept) {
  Builder builder;
  const int received = builder.add({}, 8, 0), y = builder.add({received}, 8, 1);
  StageGraph stage = builder.read({y});
  stage.ops[0].isRepeatable = false;
  const Recomputation chosen = complete(stage, std::vector<bool>(3));
  EXPECT_EQ(chosen.isKept, (std::vector<bool>{false, true, false}));
}

TEST(Recompute, OpsThatShareAReadValueRunOnce) {
  Builder builder;
  const int x = builder.add({0}, 8, 5), y = builder.add({x}, 8, 1),
            z = builder.add({x}, 8, 1);
  EXPECT_EQ(complete(builder.read({y, z}), std::vector<bool>(4)).flops, 7);
}

/// Returns twelve equal blocks: x ── wide (4 times the bytes) ── x.
StageGraph blocks(int numBlocks) {
  Builder builder;
  std::vector<int> read;
  int x = builder.add({0}, 10, 100);
  for (int i = 0; i < numBlocks; ++i) {
    const int wide = builder.add({x}, 40, 100),
              bent = builder.add({wide}, 40, 1);
    read.insert(read.begin(), {bent, wide, x});
    x = builder.add({bent, x}, 10, 100);
  }
  return builder.read(read);
}

TEST(Recompute, AllOfABlockRunsAgainFromItsInput) {
  StageGraph stage = blocks(12);
  stage.inFlight = 4;
  const Recomputation chosen = recomputeAll(stage);
  expectSound(stage, chosen);
  EXPECT_LE(chosen.keptBytes, 120);
  const std::vector<Recomputation> none{recomputeNothing(stage)};
  EXPECT_EQ(none[0].keptBytes, 12 * 90);
  EXPECT_LE(3 * activationBytes({stage}, {chosen}),
            activationBytes({stage}, none));
}

TEST(Recompute, AChainHasAboutTheRootOfItsLengthInSegments) {
  Builder builder;
  std::vector<int> read;
  for (int i = 0; i < 100; ++i)
    read.insert(read.begin(), builder.add({i}, 1, 1));
  const StageGraph stage = builder.read(read);
  const Recomputation chosen = recomputeAll(stage);
  EXPECT_LE(activationBytes({stage}, {chosen}), 25);
  EXPECT_GE(chosen.flops, 85);
}

TEST(Recompute, ABudgetIsUsedUp) {
  const StageGraph stage = blocks(12);
  const int64_t most = activationBytes({stage}, {recomputeNothing(stage)}),
                least = activationBytes({stage}, {recomputeAll(stage)});
  double before = 1e9;
  for (int64_t budget = least; budget <= most; budget += (most - least) / 8) {
    const std::vector<Recomputation> chosen = recomputeWithin({stage}, budget);
    EXPECT_LE(activationBytes({stage}, chosen), budget);
    EXPECT_LE(chosen[0].flops, before);
    expectSound(stage, chosen[0]);
    before = chosen[0].flops;
  }
  EXPECT_EQ(recomputeWithin({stage}, most)[0].flops, 0);
}

TEST(Recompute, StagesOfOnePositionShareTheBudget) {
  const StageGraph small = blocks(2), large = blocks(6);
  const std::vector<StageGraph> stages{small, large};
  auto bytes = [&](Recomputation (*mode)(const StageGraph &)) {
    return activationBytes(stages, {mode(small), mode(large)});
  };
  const int64_t budget = (bytes(recomputeNothing) + bytes(recomputeAll)) / 2;
  const std::vector<Recomputation> chosen = recomputeWithin(stages, budget);
  EXPECT_LE(activationBytes(stages, chosen), budget);
  EXPECT_GT(chosen[0].flops + chosen[1].flops, 0);
}

TEST(Recompute, NothingIsCheaperAtAPriceThanTheCut) {
  std::mt19937 random(1);
  for (int trial = 0; trial < 300; ++trial) {
    const StageGraph stage = randomStage(random, 8, trial % 2);
    const double price = 0.1 + static_cast<double>(random() % 50) / 7;
    const TradeOff found = cheapestTradeOff(
        stage, allOps(stage), std::vector<bool>(stage.values.size()), price);
    auto cost = [&](double bytes, double flops) {
      return price * bytes + flops;
    };
    double least = 1e9;
    for (const Recomputation &one : allOf(stage))
      least =
          std::min(least, cost(static_cast<double>(one.keptBytes), one.flops));
    EXPECT_NEAR(cost(static_cast<double>(found.bytes), found.flops), least,
                1e-6);
  }
}

TEST(Recompute, TradeOffsAreTheLowerHull) {
  std::mt19937 random(2);
  for (int trial = 0; trial < 200; ++trial) {
    const StageGraph stage = randomStage(random, 8, trial % 2);
    const std::vector<TradeOff> found =
        tradeOffs(stage, allOps(stage), std::vector<bool>(stage.values.size()));
    int64_t fewest = 1 << 20;
    for (const Recomputation &one : allOf(stage)) {
      fewest = std::min(fewest, one.keptBytes);
      // No choice is below the line between two neighbours.
      for (size_t i = 0; i + 1 < found.size(); ++i) {
        const double slope =
            (found[i + 1].flops - found[i].flops) /
            static_cast<double>(found[i].bytes - found[i + 1].bytes);
        EXPECT_GE(one.flops + slope * static_cast<double>(one.keptBytes),
                  found[i].flops + slope * static_cast<double>(found[i].bytes) -
                      1e-6);
      }
    }
    EXPECT_EQ(found.front().flops, 0);
    EXPECT_EQ(found.back().bytes, fewest);
  }
}

TEST(Recompute, NoneAndSelectiveKeepTheFewestBytesOfWhatTheyMayRunAgain) {
  std::mt19937 random(3);
  for (int trial = 0; trial < 200; ++trial) {
    const StageGraph stage = randomStage(random, 8, trial % 2);
    int64_t none = 1 << 20, cheap = none;
    for (const Recomputation &one : allOf(stage)) {
      bool isCheap = true;
      for (size_t i = 0; i < stage.ops.size(); ++i)
        isCheap &= !one.isRecomputed[i] || stage.ops[i].isCheap;
      if (one.flops == 0)
        none = std::min(none, one.keptBytes);
      if (isCheap)
        cheap = std::min(cheap, one.keptBytes);
    }
    EXPECT_EQ(recomputeNothing(stage).keptBytes, none);
    EXPECT_EQ(recomputeCheap(stage).keptBytes, cheap);
  }
}

/// The search is greedy; the test requires the results that it reaches.
TEST(Recompute, BudgetsAreMetWithFewFlopsMoreThanTheFewest) {
  std::mt19937 random(4);
  double found = 0, best = 0;
  int missed = 0, possible = 0;
  for (int trial = 0; trial < 300; ++trial) {
    const StageGraph stage = randomStage(random, 9, trial % 2);
    const std::vector<Recomputation> all = allOf(stage);
    const int64_t most = activationBytes({stage}, {recomputeNothing(stage)});
    const auto budget = static_cast<int64_t>(static_cast<double>(most) *
                                             (0.5 + 0.05 * (trial % 10)));
    double fewest = 1e9;
    for (const Recomputation &one : all)
      if (activationBytes({stage}, {one}) <= budget)
        fewest = std::min(fewest, one.flops);
    if (fewest == 1e9)
      continue;
    ++possible;
    const std::vector<Recomputation> chosen = recomputeWithin({stage}, budget);
    expectSound(stage, chosen[0]);
    if (activationBytes({stage}, chosen) > budget) {
      ++missed;
      continue;
    }
    EXPECT_GE(chosen[0].flops, fewest);
    found += chosen[0].flops;
    best += fewest;
  }
  EXPECT_GT(possible, 100);
  EXPECT_LE(50 * missed, possible);
  EXPECT_LE(found, 1.1 * best);
}

/// Under 1F1B, stage s of p has p - s microbatches in flight.
TEST(Recompute, EarlyStagesHaveMoreInFlight) {
  const ActionTable table = *makeSchedule({ScheduleKind::OneFOneB, 4, 1, 8});
  for (int stage = 0; stage < 4; ++stage)
    EXPECT_EQ(mostInFlight(table, stage), 4 - stage);
}

} // namespace
