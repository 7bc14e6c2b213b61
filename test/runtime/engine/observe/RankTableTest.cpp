//===- RankTableTest.cpp - tests of RankTable -----------------------------===//

#include "runtime/engine/observe/RankTable.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <numeric>

using namespace pcc::runtime;

/// Returns the report of a rank whose steps took `steps` seconds, half of them
/// in computations and a quarter in collectives.
static RankReport reportOf(std::vector<double> steps, int64_t weights = 1024) {
  const double seconds = std::accumulate(steps.begin(), steps.end(), 0.0);
  return {.seconds = seconds,
          .spent = {.compute = seconds / 2,
                    .wait = seconds / 4,
                    .idle = seconds / 4},
          .weightBytes = weights,
          .stateBytes = 0,
          .arenaBytes = 2048,
          .peakMemoryBytes = 1 << 20,
          .peakLive = {},
          .steps = std::move(steps)};
}

/// Returns the positions of `stages` stages, one stage at each position.
static std::vector<int32_t> positions(int stages) {
  std::vector<int32_t> list(static_cast<size_t>(stages));
  std::iota(list.begin(), list.end(), 0);
  return list;
}

TEST(RankTableTest, TakesNearestRankPercentiles) {
  std::vector<double> seconds(100);
  std::iota(seconds.rbegin(), seconds.rend(), 1);
  const StepSpread spread = spreadOf(seconds);
  EXPECT_EQ(spread.median, 50.5);
  EXPECT_EQ(spread.min, 1);
  EXPECT_EQ(spread.max, 100);
  EXPECT_EQ(spread.p90, 90);
  EXPECT_EQ(spread.p99, 99);
  EXPECT_NEAR(spread.deviation, 29.011, 1e-3);
}

TEST(RankTableTest, HasNoDeviationForOneStep) {
  const StepSpread spread = spreadOf({0.5});
  EXPECT_EQ(spread.median, 0.5);
  EXPECT_EQ(spread.p99, 0.5);
  EXPECT_EQ(spread.deviation, 0);
}

TEST(RankTableTest, GroupsRanksOfAStage) {
  const std::vector<RankReport> ranks = {reportOf({1}), reportOf({2}),
                                         reportOf({4}, 512), reportOf({3})};
  const RankTable table = tabulate(ranks, positions(2));
  ASSERT_EQ(table.rows.size(), 2u);
  EXPECT_EQ(table.rows[0].last, 1);
  EXPECT_EQ(table.rows[0].slowest, 1);
  EXPECT_EQ(table.rows[1].first, 2);
  EXPECT_EQ(table.rows[1].firstStage, 1);
  EXPECT_EQ(table.rows[1].step.median, 3.5);
  EXPECT_EQ(table.rows[1].weights, 1024);
  EXPECT_DOUBLE_EQ(table.rows[1].compute, 0.5);
  EXPECT_DOUBLE_EQ(table.rows[1].collectives, 0.25);
  EXPECT_DOUBLE_EQ(table.rows[1].idle(), 0.5);
  EXPECT_EQ(table.whole.step.median, 4);
  EXPECT_EQ(table.whole.slowest, 2);
}

TEST(RankTableTest, NamesAllStagesOfARank) {
  const std::vector<RankReport> ranks = {reportOf({1}), reportOf({1})};
  // As in the schedule zb-v: stages 0 and 3 have the first position.
  const std::vector<int32_t> stagePositions = {0, 1, 1, 0};
  const RankTable table = tabulate(ranks, stagePositions);
  EXPECT_EQ(table.rows[0].firstStage, 0);
  EXPECT_EQ(table.rows[0].lastStage, 3);
  EXPECT_EQ(table.rows[1].lastStage, 2);
}

TEST(RankTableTest, HasAtMostSixteenRows) {
  const std::vector<RankReport> ranks(99, reportOf({1}));
  const RankTable table = tabulate(ranks, positions(99));
  EXPECT_LE(table.rows.size(), 16u);
  int next = 0;
  for (const RankRow &row : table.rows) {
    EXPECT_EQ(row.first, next);
    next = row.last + 1;
  }
  EXPECT_EQ(next, 99);
}

TEST(RankTableTest, TakesTheSlowestRankOfEachStepForTheRun) {
  const std::vector<RankReport> ranks = {reportOf({1, 5}), reportOf({3, 2})};
  const RankTable table = tabulate(ranks, positions(1));
  EXPECT_EQ(table.whole.step.min, 3);
  EXPECT_EQ(table.whole.step.max, 5);
}

TEST(RankTableTest, PrintsATableForPeople) {
  const std::vector<RankReport> ranks = {reportOf({0.1}), reportOf({0.2})};
  EXPECT_EQ(rankTableText(tabulate(ranks, positions(2)), ""),
            "ranks  stages  step (median)     min     max  compute  idle"
            "  collectives  weights  state    arena     peak\n"
            "0           0         100 ms  100 ms  100 ms     50 %  50 %"
            "         25 %  1.0 KiB      -  2.0 KiB  1.0 MiB\n"
            "1           1         200 ms  200 ms  200 ms     50 %  50 %"
            "         25 %  1.0 KiB      -  2.0 KiB  1.0 MiB\n"
            "all       0-1         200 ms  200 ms  200 ms     50 %  50 %"
            "         25 %  1.0 KiB      -  2.0 KiB  1.0 MiB\n"
            "step 200 ms (one step), 5.00 samples/s, slowest is rank 1\n");
}

TEST(RankTableTest, TellsThePeakOfASharedProcessOnce) {
  const std::vector<RankReport> ranks = {reportOf({0.1}), reportOf({0.2})};
  RankTable table = tabulate(ranks, positions(2));
  table.sharesProcess = true;
  const std::string text = rankTableText(table, "");
  EXPECT_NE(text.find("weights  state    arena\n"), std::string::npos) << text;
  EXPECT_NE(text.find("slowest is rank 1\n"
                      "peak memory of the process of all ranks: 1.0 MiB\n"),
            std::string::npos)
      << text;
  EXPECT_EQ(text.find("1.0 MiB"), text.rfind("1.0 MiB")) << text;
}

TEST(RankTableTest, TellsTheSpreadOfSeveralSteps) {
  const std::vector<RankReport> ranks = {reportOf({0.1, 0.2, 0.3})};
  const std::string text = rankTableText(tabulate(ranks, positions(1)), "");
  EXPECT_NE(text.find("step 200 ms +- 100 ms (median of 3 steps, p90 300 ms, "
                      "p99 300 ms), 5.00 samples/s\n"),
            std::string::npos)
      << text;
  EXPECT_EQ(text.find("all"), std::string::npos);
}

TEST(RankTableTest, GivesTheSameNumbersInAllFormats) {
  const std::vector<RankReport> ranks = {reportOf({0.25}), reportOf({0.5})};
  const RankTable table = tabulate(ranks, positions(2));
  const auto json = nlohmann::json::parse(rankTableText(table, "json"));
  EXPECT_EQ(json["steps"], 1);
  ASSERT_EQ(json["ranks"].size(), 3u);
  EXPECT_EQ(json["ranks"][2]["ranks"], "all");
  EXPECT_EQ(json["ranks"][2]["max_seconds"], 0.5);
  EXPECT_EQ(json["ranks"][0]["arena_bytes"], 2048);
  const std::string csv = rankTableText(table, "csv");
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 4);
  EXPECT_EQ(csv.find("ranks,stages,median_seconds,min_seconds"), 0u);
  EXPECT_NE(csv.find("\nall,0-1,0.5,"), std::string::npos);
  const std::string markdown = rankTableText(table, "md");
  EXPECT_EQ(markdown.find("| ranks | stages | step (median) |"), 0u);
  EXPECT_NE(markdown.find("\n| --- | ---: |"), std::string::npos);
  EXPECT_NE(markdown.find("|\n\nstep 500 ms (one step)"), std::string::npos);
}
