// Tests schedules that users write: the CSV form, valid contents, the places of
// errors, and that a valid schedule need not be one of the generated ones.

#include "passes/plan/schedule/ScheduleFile.h"
#include "passes/plan/schedule/DeadlockCheck.h"
#include "passes/plan/schedule/Schedules.h"
#include "passes/plan/schedule/Simulate.h"

#include "test/passes/plan/schedule/ScheduleFixtures.h"
#include "gtest/gtest.h"

#include <algorithm>
#include <random>
#include <set>

using namespace pcc::plan;

namespace {

constexpr ScheduleKind kinds[] = {
    ScheduleKind::ForwardOnly, ScheduleKind::Naive,       ScheduleKind::GPipe,
    ScheduleKind::OneFOneB,    ScheduleKind::Interleaved, ScheduleKind::ZbH1,
    ScheduleKind::ZbV};

TEST(ScheduleFile, EveryGeneratorsTableComesBack) {
  for (ScheduleKind kind : kinds)
    for (int p : {1, 2, 3, 4, 8})
      for (int m : {1, 2, 4, 7, 16})
        for (int v = 1; v <= 3; ++v) {
          const ScheduleRequest request{kind, p, v, m};
          if (!scheduleError(request).empty())
            continue;
          const ActionTable table = *makeSchedule(request);
          const bool trains = kind != ScheduleKind::ForwardOnly;
          auto asked = readSchedule(printCsv(table), {p, v, m, trains});
          ASSERT_EQ(asked.status().message(), "") << nameOf(kind);
          ASSERT_EQ(*asked, table) << nameOf(kind);
          auto found = readSchedule(printCsv(table), {p, 0, 0, trains});
          ASSERT_EQ(*found, table) << "counts follow from the file";
        }
}

TEST(ScheduleFile, WhatPccDerivesIsDropped) {
  auto read = readSchedule(
      "0UNSHARD,0F0,0SEND_F0,,0F1,0SEND_F1,0RECV_B0,0B0,0RECV_B1,0B1,"
      "0REDUCE_GRAD,0RESHARD,0U\r\n"
      "\r\n"
      "1UNSHARD,1RECV_F0,1F0,1B0,1SEND_B0,1RECV_F1,(1F1;1B1)OVERLAP_F_B,\r\n",
      {2, 1, 2});
  EXPECT_EQ(read.status().message(), "");
  EXPECT_EQ(printCsv(*read), "0F0,0F1,0B0,0B1\n1F0,1B0,1F1,1B1\n");
}

TEST(ScheduleFile, StagesBelongToTheLinesThatRunThem) {
  auto read = readSchedule("1F0,2F0,2B0,1B0\n0F0,3F0,3B0,0B0\n", {2, 2, 1});
  EXPECT_EQ(read.status().message(), "");
  EXPECT_EQ(read->positionOfStage, (std::vector<int>{1, 0, 0, 1}));
}

/// More forwards in advance than in 1F1B, so that a gradient that takes long to
/// come back leaves no gap.
const char *const eager = "0F0,0F1,0F2,0B0,0F3,0B1,0F4,0B2,0F5,0B3,0B4,0B5\n"
                          "1F0,1B0,1F1,1B1,1F2,1B2,1F3,1B3,1F4,1B4,1F5,1B5\n";

TEST(ScheduleFile, AnEager1F1BHidesTransfers) {
  auto read = readSchedule(eager, {2, 1, 6});
  ASSERT_EQ(read.status().message(), "");
  const ActionTable ours = *makeSchedule({ScheduleKind::OneFOneB, 2, 1, 6});
  EXPECT_EQ(simulate(*read).makespan, simulate(ours).makespan);
  ActionCosts costs;
  costs.transferSeconds = [](int, int) { return 0.5; };
  EXPECT_EQ(simulate(*read, costs).makespan, 22);
  EXPECT_EQ(simulate(ours, costs).makespan, 24);
  EXPECT_EQ(peakLive(*read), (std::vector<int>{3, 1}));
  auto lowered = insertMessages(*read, chainTransfers(2, true));
  EXPECT_EQ(lowered.status().message(), "");
  EXPECT_EQ(replay(*lowered).error, "");
}

/// Makes tables: runs any action that can run until none is left.
class RandomSchedule {
public:
  RandomSchedule(std::mt19937 &random, int p, int v, int m, bool split)
      : random(random) {
    table = {p * v, m, {}, std::vector<std::vector<Action>>(p)};
    for (int stage = 0; stage < p * v; ++stage)
      table.positionOfStage.push_back(stage % p);
    std::shuffle(table.positionOfStage.begin(), table.positionOfStage.end(),
                 random);
    for (int stage = 0; stage < p * v; ++stage)
      for (int mb = 0; mb < m; ++mb) {
        left.push_back({ActionKind::Forward, stage, mb});
        left.push_back({gradient(split), stage, mb});
        if (split)
          left.push_back({ActionKind::WeightGradient, stage, mb});
      }
  }

  ActionTable make() {
    while (!left.empty()) {
      const size_t at = random() % left.size();
      if (!canRun(left[at]))
        continue;
      table.positions[table.positionOfStage[left[at].stage]].push_back(
          left[at]);
      done.insert(left[at]);
      left.erase(left.begin() + static_cast<std::ptrdiff_t>(at));
    }
    return table;
  }

private:
  static ActionKind gradient(bool split) {
    return split ? ActionKind::InputGradient : ActionKind::Backward;
  }

  bool canRun(const Action &action) const {
    const auto [kind, stage, mb] = action;
    if (kind == ActionKind::Forward)
      return stage == 0 || done.contains({kind, stage - 1, mb});
    if (kind == ActionKind::WeightGradient)
      return done.contains({ActionKind::InputGradient, stage, mb});
    return done.contains({ActionKind::Forward, stage, mb}) &&
           (stage + 1 == table.numStages ||
            done.contains({kind, stage + 1, mb}));
  }

  std::mt19937 &random;
  ActionTable table;
  std::vector<Action> left;
  std::set<Action> done;
};

TEST(ScheduleFile, AnyLegalScheduleIsTakenAndEndsUnderRendezvous) {
  std::mt19937 random(7);
  for (int round = 0; round < 500; ++round) {
    const int p = 1 + random() % 5, v = 1 + random() % 3, m = 1 + random() % 6;
    const ActionTable table =
        RandomSchedule(random, p, v, m, random() % 2).make();
    auto read = readSchedule(printCsv(table), {p, v, m});
    ASSERT_EQ(read.status().message(), "") << printCsv(table);
    ASSERT_EQ(*read, table);
    const auto chain = chainTransfers(p * v, true);
    ASSERT_EQ(replay(*insertMessages(table, chain)).error, "")
        << printCsv(table);
  }
}

struct Mistake {
  const char *text;
  ScheduleShape shape;
  const char *error;
};

TEST(ScheduleFile, AStageHasOneFormOfBackwardPass) {
  const auto read = readSchedule("0F0,0F1,0B0,0I1,0W1\n1F0,1B0,1F1,1B1\n",
                                 {.numPositions = 2});
  EXPECT_EQ(read.status().message(), "");
  EXPECT_EQ(printCsv(*read), "0F0,0F1,0I0,0W0,0I1,0W1\n1F0,1B0,1F1,1B1\n");
  EXPECT_TRUE(splitsBackward(*read, 0));
  EXPECT_FALSE(splitsBackward(*read, 1));
}

TEST(ScheduleFile, MistakesAreFoundWhereTheyAre) {
  for (const Mistake &mistake : {
           Mistake{"0F0,0B0\n1F0, 1G0\n",
                   {2, 1, 1},
                   "line 2, column 6: '1G0' is not an action (expected for "
                   "example 0F3, 0B3, 0I3 or 0W3)"},
           {"0F0,0B0\n\n1F0,(1F1;1Q0)OVERLAP_F_B\n",
            {2, 1, 2},
            "line 3, column 10: '1Q0' is not an action (expected for example "
            "0F3, 0B3, 0I3 or 0W3)"},
           {"0F0,0F8\n",
            {1, 1, 8},
            "line 1, column 5: 0F8 is of microbatch 8, but there are 8 (0 to "
            "7)"},
           {"0F0,0B0\n2F0,2B0\n",
            {2, 1, 1},
            "line 2, column 1: 2F0 is of stage 2, but there are 2 (0 to 1)"},
           {"0F0,0B0\n1F0,1B0,0F0\n",
            {2, 1, 1},
            "line 2, column 9: 0F0 is of stage 0, which line 1 runs"},
           {"0F0,0B0\n",
            {1, 1, 1, false},
            "line 1, column 5: 0B0 is part of training; expected F alone"},
       })
    EXPECT_EQ(readSchedule(mistake.text, mistake.shape).status().message(),
              mistake.error);
}

// The reader must not recurse as deeply as a file nests.
TEST(ScheduleFile, FusedActionsAreNotNested) {
  std::string deep = "0F0,";
  for (int i = 0; i < 40000; ++i)
    deep += "(0F0;";
  deep += "0B0";
  for (int i = 0; i < 40000; ++i)
    deep += ")OVERLAP_F_B";
  EXPECT_EQ(readSchedule(deep, {1, 1, 1}).status().message(),
            "line 1, column 10: '(0F0' is not an action (expected for example "
            "0F3, 0B3, 0I3 or 0W3)");
  EXPECT_EQ(readSchedule("(((0F0)OVERLAP_F_B)OVERLAP_F_B,0B0", {1, 1, 1})
                .status()
                .code(),
            pcc::CannotMeet);
  const std::string wrong(1000, 'F');
  EXPECT_EQ(readSchedule(wrong, {1, 1, 1}).status().message(),
            "line 1, column 1: '" + wrong.substr(0, 40) +
                "…' is not an action (expected for example 0F3, 0B3, 0I3 or "
                "0W3)");
}

TEST(ScheduleFile, CountsThatDoNotFitAreNamed) {
  for (const Mistake &mistake : {
           Mistake{"",
                   {2, 1, 1},
                   "the schedule has 0 lines with actions, expected one for "
                   "each of 2 ranks"},
           {"0F0\n1F0\n2F0\n",
            {2, 0, 1},
            "the schedule has 3 lines with actions, expected one for each of 2 "
            "ranks"},
           {"0F0,2F0\n",
            {1, 0, 1},
            "the schedule has no action of stage 1, but one of stage 2"},
           {"0F0,1F0\n2F0\n",
            {2, 0, 1},
            "the schedule has 3 stages, which 2 ranks cannot share equally"},
           {"0F0,1F0,2F0\n3F0\n",
            {2, 2, 1},
            "line 1 runs 3 stages, expected 2 on every line"},
           {"0F0,0B0\n1F0,1B0\n",
            {2, 2, 1},
            "line 1 runs 1 stage, expected 2 on every line"},
           {"0F1000000,1F0,2F0,3F0,4F0\n",
            {1, 0, 0},
            "the schedule has 5 stages and 1000001 microbatches, which is too "
            "large a table"},
           {"0F0\n",
            {1, 1, 1},
            "the schedule has F alone, expected B, or I and W, for training"},
       })
    EXPECT_EQ(readSchedule(mistake.text, mistake.shape).status().message(),
              mistake.error);
}

TEST(ScheduleFile, SchedulesThatCannotRunAreRefused) {
  for (const Mistake &mistake : {
           Mistake{"0F0,0B0\n",
                   {1, 1, 2},
                   "stage 0, microbatch 1 must have one F, got 0"},
           {"0F0,0F0,0B0\n",
            {1, 1, 1},
            "stage 0, microbatch 0 must have one F, got 2"},
           {"0B0,0F0\n", {1, 1, 1}, "0B0 comes before its F"},
           {"0F0,0I0\n",
            {1, 1, 1},
            "stage 0, microbatch 0 must have one B, or one I and one W; got 0 "
            "B, 1 I, 0 W"},
           {"0F0,0B0,0F1,0B1\n1F0,1F1,1B0,1B1\n",
            {2, 1, 2},
            "the schedule cannot proceed: position 0 at 0B0 waits for the "
            "gradient of 1F0; position 1 at 1F1 waits for 0F1"},
       })
    EXPECT_EQ(readSchedule(mistake.text, mistake.shape).status().message(),
              mistake.error);
}

} // namespace
