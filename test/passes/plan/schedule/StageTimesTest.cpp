// Compares simulated step times with the bubble rates that the paper on Zero
// Bubble prints (Qi et al., arXiv 2401.10241, tables 5 and 6).

#include "passes/plan/schedule/StageTimes.h"

#include "gtest/gtest.h"

using namespace pcc::plan;

namespace {

/// A row of the tables: times in milliseconds, and printed bubble rates.
struct Row {
  int layers, stages, microbatches;
  StageTimes times;
  double of1F1B, ofInterleaved, ofZbH1;
};

const Row rows[] = {
    {22, 8, 24, {18.522, 18.086, 9.337, .601}, .2431, .1055, .1585},
    {22, 8, 64, {18.546, 18.097, 9.321, .762}, .1240, .0443, .0674},
    {30, 8, 32, {29.802, 29.428, 19.530, .577}, .1898, .0628, .1045},
    {46, 16, 48, {11.347, 11.248, 8.132, .377}, .2552, .1104, .1397},
    {46, 16, 128, {11.325, 11.308, 8.109, .378}, .1251, .0445, .0576},
    {62, 32, 128, {10.408, 10.204, 7.703, .408}, .2168, .1164, .1106}};

double bubble(const Row &row, ScheduleKind kind, int virtualStages = 1) {
  auto step =
      stepTime({kind, row.stages, virtualStages, row.microbatches}, row.times);
  return step ? step->bubble : -1;
}

TEST(StageTimes, BubblesOf1F1BAndZbH1AreThePrintedOnes) {
  for (const Row &row : rows) {
    EXPECT_NEAR(bubble(row, ScheduleKind::OneFOneB), row.of1F1B, 5.01e-5);
    EXPECT_NEAR(bubble(row, ScheduleKind::ZbH1), row.ofZbH1, 5.01e-5);
  }
}

// The embedding and the head count as a layer each.
TEST(StageTimes, BubblesOfInterleavedSchedulesAreNearThePrintedOnes) {
  for (const Row &row : rows)
    EXPECT_NEAR(
        bubble(row, ScheduleKind::Interleaved, (row.layers + 2) / row.stages),
        row.ofInterleaved, 4e-3);
}

TEST(StageTimes, OneRankNeverWaits) {
  auto step = stepTime({ScheduleKind::OneFOneB, 1, 1, 4}, {1, 1, 1, 9});
  ASSERT_TRUE(static_cast<bool>(step));
  EXPECT_EQ(step->seconds, 12);
  EXPECT_EQ(step->bubble, 0);
}

TEST(StageTimes, AScheduleThatDoesNotExistIsAnError) {
  EXPECT_EQ(
      stepTime({ScheduleKind::ZbV, 4, 3, 8}, {1, 1, 1, 0}).status().code(),
      pcc::CannotMeet);
}

TEST(StageTimes, AStepThatIsTooLongIsAnError) {
  EXPECT_EQ(stepTime({ScheduleKind::OneFOneB, 1 << 16, 1, 1 << 16}, {})
                .status()
                .code(),
            pcc::CannotMeet);
}

} // namespace
