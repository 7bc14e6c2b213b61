// Tests cuts of a chain into stages: compares with exhaustive search on small
// chains, and checks the guarantees on large ones.

#include "passes/plan/stage/StageCut.h"

#include "gtest/gtest.h"

#include <algorithm>
#include <functional>
#include <random>

using namespace pcc::plan;

namespace {

/// Returns a chain of items with the given times, which are also the flops.
/// Every cut crosses `bytes`.
StageCutRequest chain(const std::vector<double> &seconds, int numStages,
                      double bytes = 1) {
  StageCutRequest request;
  request.numStages = numStages;
  for (double time : seconds) {
    WorkItem &work = request.items.emplace_back();
    work.seconds = work.flops = time;
  }
  request.crossingBytes.assign(seconds.size() - 1, bytes);
  return request;
}

struct Score {
  double slowest, bytes;
};

/// Returns the scores of all cuts, by the definition of the objective.
std::vector<Score> allCuts(const StageCutRequest &request) {
  const size_t n = request.items.size();
  std::vector<Score> scores;
  std::function<void(size_t, int, Score)> extend = [&](size_t first, int stage,
                                                       Score score) {
    const bool last = stage + 1 == request.numStages;
    double time =
        first ? request.secondsPerByte * request.crossingBytes[first - 1] : 0;
    double memory = 0;
    for (size_t end = first; end < n; ++end) {
      const WorkItem &work = request.items[end];
      if (stage < work.minStage || stage > work.maxStage)
        return;
      if (end > first &&
          std::count(request.pinned.begin(), request.pinned.end(), end))
        return;
      time += work.seconds;
      memory += work.weightBytes +
                (request.inFlight.empty() ? 1 : request.inFlight[stage]) *
                    work.activationBytes;
      if (memory > request.memoryLimit)
        return;
      const Score now{std::max(score.slowest, time), score.bytes};
      if (last && end + 1 == n)
        scores.push_back(now);
      if (!last && end + 1 < n)
        extend(end + 1, stage + 1,
               {now.slowest, now.bytes + request.crossingBytes[end]});
    }
  };
  extend(0, 0, {0, 0});
  return scores;
}

StageCutRequest randomRequest(std::mt19937 &random) {
  auto below = [&](int bound) { return static_cast<int>(random() % bound); };
  StageCutRequest request;
  const int n = 2 + below(9);
  request.numStages = 1 + below(std::min(n, 5));
  for (int i = 0; i < n; ++i) {
    WorkItem work;
    work.seconds = below(9);
    work.weightBytes = below(5);
    work.activationBytes = below(4);
    if (below(12) == 0)
      work.minStage = below(request.numStages);
    if (below(12) == 0)
      work.maxStage = below(request.numStages);
    request.items.push_back(work);
    if (i)
      request.crossingBytes.push_back(below(6));
    if (i && below(10) == 0)
      request.pinned.push_back(i);
  }
  for (int k = 0; k < request.numStages; ++k)
    request.inFlight.push_back(request.numStages - k);
  if (below(2))
    request.memoryLimit = 10 + below(20);
  request.secondsPerByte = below(2) * 0.25;
  return request;
}

TEST(StageCut, EqualItemsGiveEqualStages) {
  StageCut cut = cutStages(chain(std::vector<double>(12, 1), 4));
  EXPECT_EQ(cut.error, "");
  EXPECT_EQ(cut.begin, (std::vector<size_t>{0, 3, 6, 9}));
  EXPECT_EQ(cut.maxSeconds, 3);
  EXPECT_EQ(cut.stageOfItems(12),
            (std::vector<int>{0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3}));
}

TEST(StageCut, TheBestCutOfExhaustiveSearchIsFound) {
  std::mt19937 random(7);
  int possible = 0;
  for (int round = 0; round < 3000; ++round) {
    StageCutRequest request = randomRequest(random);
    std::vector<Score> scores = allCuts(request);
    StageCut cut = cutStages(request);
    ASSERT_EQ(cut.error.empty(), !scores.empty()) << round << ": " << cut.error;
    if (scores.empty())
      continue;
    ++possible;
    auto best = std::min_element(
        scores.begin(), scores.end(), [](const Score &a, const Score &b) {
          return a.slowest != b.slowest ? a.slowest < b.slowest
                                        : a.bytes < b.bytes;
        });
    ASSERT_NEAR(cut.maxSeconds, best->slowest, 1e-9) << round;
    ASSERT_EQ(cut.crossingBytes, best->bytes) << round;
  }
  EXPECT_GT(possible, 1000);
}

TEST(StageCut, ToleranceTradesAFewPercentForFewerBytes) {
  StageCutRequest request = chain(std::vector<double>(100, 1), 2, 10);
  request.crossingBytes[51] = 1;
  EXPECT_EQ(cutStages(request).begin[1], 50u)
      << "without tolerance balance wins";
  request.tolerance = 0.05;
  EXPECT_EQ(cutStages(request).begin[1], 52u)
      << "2% slower, a tenth of the bytes";
  request.crossingBytes.assign(99, 10);
  EXPECT_EQ(cutStages(request).begin[1], 50u)
      << "equal bytes: the balanced cut";
}

TEST(StageCut, NoStageHasMoreThanTwiceTheMeanWhereItemsAllowIt) {
  std::mt19937 random(11);
  for (int round = 0; round < 300; ++round) {
    std::vector<double> seconds(20 + random() % 200);
    for (double &time : seconds)
      time = random() % 100;
    StageCutRequest request = chain(seconds, 1 + random() % 16);
    for (double &bytes : request.crossingBytes)
      bytes = random() % 1000;
    request.secondsPerByte = 1;
    request.tolerance = 0.5;
    StageCut cut = cutStages(request);
    ASSERT_EQ(cut.error, "");
    ASSERT_TRUE(cut.balanced) << round;
  }
}

TEST(StageCut, MemoryInFlightMovesWorkToLateStages) {
  StageCutRequest request = chain(std::vector<double>(12, 1), 3);
  for (WorkItem &work : request.items)
    work.activationBytes = 1;
  request.inFlight = {3, 2, 1};
  EXPECT_EQ(cutStages(request).maxMemory, 12);
  request.memoryLimit = 9;
  StageCut cut = cutStages(request);
  EXPECT_EQ(cut.begin, (std::vector<size_t>{0, 3, 7}));
  EXPECT_LE(cut.maxMemory, 9);
}

TEST(StageCut, PinsAndPlacementsAreKept) {
  StageCutRequest request = chain(std::vector<double>(10, 1), 3);
  request.pinned = {1};
  EXPECT_EQ(cutStages(request).begin[1], 1u);
  request.pinned = {9, 2};
  EXPECT_EQ(cutStages(request).begin, (std::vector<size_t>{0, 2, 9}));
  request.pinned = {};
  request.items[8].maxStage = 1;
  EXPECT_EQ(cutStages(request).begin[2], 9u);
}

TEST(StageCut, ImpossibleRequestsSayWhy) {
  EXPECT_EQ(cutStages(chain({1, 1}, 3)).error,
            "the model has only 2 ops to cut");
  EXPECT_EQ(cutStages(chain({1, 1}, 0)).error,
            "the number of stages must be positive, got 0");
  StageCutRequest pins = chain({1, 1, 1, 1}, 2);
  pins.pinned = {1, 2};
  EXPECT_EQ(cutStages(pins).error,
            "no cut into 2 stages honours the requested cuts and placements");
  StageCutRequest heavy = chain({1, 1, 1, 1}, 2);
  for (WorkItem &work : heavy.items)
    work.weightBytes = 100;
  heavy.memoryLimit = 150;
  EXPECT_EQ(cutStages(heavy).error,
            "no cut into 2 stages fits the memory limit of 150 bytes; "
            "the fullest stage needs at least 200");
}

TEST(StageCut, ValuesCountAtEveryCutTheyPass) {
  // 0 -> 1 -> 2 -> 3 with a skip connection 0 -> 3.
  EXPECT_EQ(crossingBytes(4, {{0, 1, 5}, {1, 2, 5}, {2, 3, 5}, {0, 3, 7}}),
            (std::vector<double>{12, 12, 12}));
}

TEST(StageCut, TenThousandItemsAreCut) {
  std::mt19937 random(3);
  std::vector<double> seconds(10000);
  for (double &time : seconds)
    time = random() % 1000;
  for (int numStages : {4, 64}) {
    StageCutRequest request = chain(seconds, numStages);
    for (double &bytes : request.crossingBytes)
      bytes = random() % 1000;
    request.tolerance = 0.05;
    StageCut cut = cutStages(request);
    EXPECT_EQ(cut.error, "");
  }
}

} // namespace
