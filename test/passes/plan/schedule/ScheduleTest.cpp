// Tests schedules: the golden tables for four positions and eight microbatches,
// their makespans, and the rules that hold for every size.

#include "passes/plan/schedule/ScheduleCheck.h"
#include "passes/plan/schedule/ScheduleFile.h"
#include "passes/plan/schedule/Schedules.h"
#include "passes/plan/schedule/Simulate.h"

#include "test/passes/plan/schedule/ScheduleFixtures.h"
#include "gtest/gtest.h"

using namespace pcc::plan;

namespace {

/// Formats tables as the literature prints them: kind and microbatch (F3) if a
/// position has one stage, kind, stage and microbatch (F4.3) if it has several.
std::string brief(const ActionTable &table) {
  const bool oneStage = table.numStages == table.numPositions();
  std::string text;
  for (const auto &row : table.positions) {
    std::string line;
    for (const Action &action : row) {
      const std::string kind(1, "FBIW"[static_cast<int>(action.kind)]);
      line += (line.empty() ? "" : " ") + kind +
              (oneStage ? "" : std::to_string(action.stage) + ".") +
              std::to_string(action.microbatch);
    }
    text += line + "\n";
  }
  return text;
}

ActionTable make(ScheduleKind kind, int p, int m, int v = 0) {
  auto result = makeSchedule({kind, p, v ? v : defaultVirtualStages(kind), m});
  EXPECT_EQ(result.status().message(), "");
  return *result;
}

double makespan(ScheduleKind kind, int p, int m, int v = 0) {
  return simulate(make(kind, p, m, v)).makespan;
}

// clang-format off
const char *const golden1F1B =
  "F0 F1 F2 F3 B0 F4 B1 F5 B2 F6 B3 F7 B4 B5 B6 B7\n"
  "F0 F1 F2 B0 F3 B1 F4 B2 F5 B3 F6 B4 F7 B5 B6 B7\n"
  "F0 F1 B0 F2 B1 F3 B2 F4 B3 F5 B4 F6 B5 F7 B6 B7\n"
  "F0 B0 F1 B1 F2 B2 F3 B3 F4 B4 F5 B5 F6 B6 F7 B7\n";

const char *const goldenInterleaved =
  "F0.0 F0.1 F0.2 F0.3 F4.0 F4.1 F4.2 F4.3 F0.4 F0.5 F0.6 B4.0 F0.7 B4.1 F4.4 B4.2 F4.5 B4.3 F4.6 B0.0 F4.7 B0.1 B0.2 B0.3 B4.4 B4.5 B4.6 B4.7 B0.4 B0.5 B0.6 B0.7\n"
  "F1.0 F1.1 F1.2 F1.3 F5.0 F5.1 F5.2 F5.3 F1.4 B5.0 F1.5 B5.1 F1.6 B5.2 F1.7 B5.3 F5.4 B1.0 F5.5 B1.1 F5.6 B1.2 F5.7 B1.3 B5.4 B5.5 B5.6 B5.7 B1.4 B1.5 B1.6 B1.7\n"
  "F2.0 F2.1 F2.2 F2.3 F6.0 F6.1 F6.2 B6.0 F6.3 B6.1 F2.4 B6.2 F2.5 B6.3 F2.6 B2.0 F2.7 B2.1 F6.4 B2.2 F6.5 B2.3 F6.6 B6.4 F6.7 B6.5 B6.6 B6.7 B2.4 B2.5 B2.6 B2.7\n"
  "F3.0 F3.1 F3.2 F3.3 F7.0 B7.0 F7.1 B7.1 F7.2 B7.2 F7.3 B7.3 F3.4 B3.0 F3.5 B3.1 F3.6 B3.2 F3.7 B3.3 F7.4 B7.4 F7.5 B7.5 F7.6 B7.6 F7.7 B7.7 B3.4 B3.5 B3.6 B3.7\n";

const char *const goldenZbH1 =
  "F0 F1 F2 F3 I0 W0 F4 I1 W1 F5 I2 W2 F6 I3 W3 F7 I4 W4 I5 W5 I6 W6 I7 W7\n"
  "F0 F1 F2 I0 F3 I1 W0 F4 I2 W1 F5 I3 W2 F6 I4 W3 F7 I5 W4 I6 W5 I7 W6 W7\n"
  "F0 F1 I0 F2 I1 F3 I2 W0 F4 I3 W1 F5 I4 W2 F6 I5 W3 F7 I6 W4 I7 W5 W6 W7\n"
  "F0 I0 F1 I1 F2 I2 F3 I3 W0 F4 I4 W1 F5 I5 W2 F6 I6 W3 F7 I7 W4 W5 W6 W7\n";

const char *const goldenZbV =
  "F0.0 F0.1 F0.2 F0.3 F0.4 F0.5 F0.6 F7.0 I7.0 W7.0 F7.1 I7.1 W7.1 F7.2 I7.2 W7.2 F7.3 I7.3 W7.3 F0.7 I0.0 W0.0 F7.4 I7.4 W7.4 I0.1 W0.1 F7.5 I7.5 W7.5 I0.2 W0.2 F7.6 I7.6 W7.6 I0.3 W0.3 F7.7 I7.7 W7.7 I0.4 W0.4 I0.5 W0.5 I0.6 W0.6 I0.7 W0.7\n"
  "F1.0 F1.1 F1.2 F1.3 F1.4 F6.0 F1.5 F6.1 I6.0 W6.0 F6.2 I6.1 W6.1 F6.3 I6.2 W6.2 F1.6 I1.0 W1.0 F6.4 I6.3 W6.3 F1.7 I1.1 W1.1 F6.5 I6.4 W6.4 I1.2 W1.2 F6.6 I6.5 W6.5 I1.3 W1.3 F6.7 I6.6 W6.6 I1.4 I6.7 I1.5 W1.4 I1.6 W1.5 I1.7 W1.6 W6.7 W1.7\n"
  "F2.0 F2.1 F2.2 F5.0 F2.3 F5.1 F2.4 F5.2 I5.0 W5.0 F5.3 I5.1 W5.1 F2.5 I2.0 W2.0 F5.4 I5.2 W5.2 F2.6 I2.1 W2.1 F5.5 I5.3 W5.3 F2.7 I2.2 W2.2 F5.6 I5.4 W5.4 I2.3 W2.3 F5.7 I5.5 W5.5 I2.4 I5.6 I2.5 I5.7 I2.6 W2.4 I2.7 W2.5 W5.6 W5.7 W2.6 W2.7\n"
  "F3.0 F4.0 F3.1 F4.1 F3.2 F4.2 F3.3 F4.3 I4.0 W4.0 F3.4 I3.0 W3.0 F4.4 I4.1 W4.1 F3.5 I3.1 W3.1 F4.5 I4.2 W4.2 F3.6 I3.2 W3.2 F4.6 I4.3 W4.3 F3.7 I3.3 W3.3 F4.7 I4.4 W4.4 I3.4 I4.5 I3.5 I4.6 I3.6 I4.7 I3.7 W3.4 W4.5 W4.6 W4.7 W3.5 W3.6 W3.7\n";
// clang-format on

TEST(Schedule, GoldenTableOf1F1B) {
  EXPECT_EQ(brief(make(ScheduleKind::OneFOneB, 4, 8)), golden1F1B);
}
TEST(Schedule, GoldenTableOfInterleaved) {
  EXPECT_EQ(brief(make(ScheduleKind::Interleaved, 4, 8)), goldenInterleaved);
}
TEST(Schedule, GoldenTableOfZbH1) {
  EXPECT_EQ(brief(make(ScheduleKind::ZbH1, 4, 8)), goldenZbH1);
}
TEST(Schedule, GoldenTableOfZbV) {
  EXPECT_EQ(brief(make(ScheduleKind::ZbV, 4, 8)), goldenZbV);
}

TEST(Schedule, GPipeRunsAllForwardsFirst) {
  EXPECT_EQ(brief(make(ScheduleKind::GPipe, 2, 3)), "F0 F1 F2 B0 B1 B2\n"
                                                    "F0 F1 F2 B0 B1 B2\n");
}

TEST(Schedule, ForwardOnlyVisitsChunksInGroupsOfMicrobatches) {
  EXPECT_EQ(brief(make(ScheduleKind::ForwardOnly, 2, 3)),
            "F0 F1 F2\nF0 F1 F2\n");
  EXPECT_EQ(brief(make(ScheduleKind::ForwardOnly, 2, 3, 2)),
            "F0.0 F0.1 F2.0 F2.1 F0.2 F2.2\nF1.0 F1.1 F3.0 F3.1 F1.2 F3.2\n");
}

TEST(Schedule, PicturesOfTheHeaderAreTrue) {
  EXPECT_EQ(brief(make(ScheduleKind::OneFOneB, 3, 4)),
            "F0 F1 F2 B0 F3 B1 B2 B3\n"
            "F0 F1 B0 F2 B1 F3 B2 B3\n"
            "F0 B0 F1 B1 F2 B2 F3 B3\n");
  EXPECT_EQ(brief(make(ScheduleKind::ZbH1, 3, 4)),
            "F0 F1 F2 I0 W0 F3 I1 W1 I2 W2 I3 W3\n"
            "F0 F1 I0 F2 I1 W0 F3 I2 W1 I3 W2 W3\n"
            "F0 I0 F1 I1 F2 I2 W0 F3 I3 W1 W2 W3\n");
}

TEST(Schedule, GoldenMakespans) {
  struct Golden {
    int p, m;
    double oneFOneB, interleaved2, interleaved4, zbH1, zbV;
  };
  for (const Golden &g : {Golden{4, 8, 33, 28.5, 26.25, 27, 25.5},
                          {8, 32, 117, 106.5, 101.25, 103, 99.5},
                          {4, 16, 57, 52.5, 50.25, 51, 49.5},
                          {2, 8, 27, 25.5, 24.75, 25, 24.5}}) {
    EXPECT_EQ(makespan(ScheduleKind::OneFOneB, g.p, g.m), g.oneFOneB);
    EXPECT_EQ(makespan(ScheduleKind::GPipe, g.p, g.m), g.oneFOneB);
    EXPECT_EQ(makespan(ScheduleKind::Interleaved, g.p, g.m, 2), g.interleaved2);
    EXPECT_EQ(makespan(ScheduleKind::Interleaved, g.p, g.m, 4), g.interleaved4);
    EXPECT_EQ(makespan(ScheduleKind::ZbH1, g.p, g.m), g.zbH1);
    EXPECT_EQ(makespan(ScheduleKind::ZbV, g.p, g.m), g.zbV);
  }
  EXPECT_EQ(makespan(ScheduleKind::Naive, 4, 8), 96);
  EXPECT_EQ(makespan(ScheduleKind::ForwardOnly, 4, 8), 11);
}

TEST(Schedule, IdleTimeIsTheBubble) {
  Timeline timeline = simulate(make(ScheduleKind::OneFOneB, 4, 8));
  EXPECT_EQ(timeline.idle, (std::vector<double>(4, 9)));
  EXPECT_EQ(timeline.positions[3][0].start, 3) << "after F0 of three stages";
}

TEST(Schedule, TransfersDelayWhatNeedsThem) {
  ActionCosts costs;
  costs.transferSeconds = [](int, int) { return 0.5; };
  EXPECT_EQ(simulate(make(ScheduleKind::Naive, 4, 1), costs).makespan,
            12 + 6 * 0.5);
  EXPECT_EQ(simulate(make(ScheduleKind::ZbV, 1, 1), costs).makespan, 3)
      << "the turn of the V is local";
}

TEST(Schedule, PeaksOfLiveActivations) {
  EXPECT_EQ(peakLive(make(ScheduleKind::GPipe, 4, 8)),
            (std::vector<int>{8, 8, 8, 8}));
  EXPECT_EQ(peakLive(make(ScheduleKind::OneFOneB, 4, 8)),
            (std::vector<int>{4, 3, 2, 1}));
  EXPECT_EQ(peakLive(make(ScheduleKind::Interleaved, 4, 8)),
            (std::vector<int>{11, 9, 7, 5}));
  EXPECT_EQ(peakLive(make(ScheduleKind::ZbH1, 4, 8)),
            (std::vector<int>{4, 4, 4, 4}));
  EXPECT_EQ(peakLive(make(ScheduleKind::ZbV, 4, 8)),
            (std::vector<int>{8, 8, 8, 8}));
  EXPECT_EQ(peakLive(make(ScheduleKind::ForwardOnly, 4, 8)),
            (std::vector<int>{0, 0, 0, 0}));
  EXPECT_EQ(peakLive(make(ScheduleKind::OneFOneB, 4, 2)),
            (std::vector<int>{2, 2, 2, 1}));
}

TEST(Schedule, EveryGeneratorIsSoundAtEverySize) {
  constexpr ScheduleKind kinds[] = {
      ScheduleKind::ForwardOnly, ScheduleKind::Naive,       ScheduleKind::GPipe,
      ScheduleKind::OneFOneB,    ScheduleKind::Interleaved, ScheduleKind::ZbH1,
      ScheduleKind::ZbV};
  for (ScheduleKind kind : kinds)
    for (int p = 1; p <= 16; ++p)
      for (int m = 1; m <= 64; m += m < 20 ? 1 : 11)
        for (int v = 1; v <= 4; ++v) {
          const ScheduleRequest request{kind, p, v, m};
          if (!scheduleError(request).empty())
            continue;
          std::vector<int> bound;
          for (int position = 0; position < p; ++position)
            bound.push_back(inFlightBound(request, position));
          const auto claims = checkSchedule(*makeSchedule(request), bound);
          ASSERT_TRUE(claims.empty())
              << nameOf(kind) << " p=" << p << " m=" << m << " v=" << v << ": "
              << claims.front().text;
        }
}

TEST(Schedule, AStageUnshardsRightBeforeItsFirstMicrobatch) {
  ActionTable table = make(ScheduleKind::Interleaved, 2, 2);
  insertUnshards(table, {0, 2, 3});
  EXPECT_EQ(printCsv(table), "0UNSHARD,0F0,0F1,2UNSHARD,2F0,2F1,2B0,2B1,0B0,0B1"
                             "\n1F0,1F1,3UNSHARD,3F0,3B0,3F1,3B1,1B0,1B1\n");
  EXPECT_TRUE(checkSchedule(table).empty());
}

TEST(Schedule, ClosedFormsOfTheBubble) {
  for (int p = 1; p <= 8; ++p)
    for (int m = 1; m <= 32; ++m) {
      EXPECT_EQ(makespan(ScheduleKind::OneFOneB, p, m), 3 * m + 3 * (p - 1));
      if (m >= p)
        EXPECT_EQ(makespan(ScheduleKind::ZbH1, p, m), 3 * m + (p - 1));
      if (m % p == 0)
        EXPECT_EQ(makespan(ScheduleKind::Interleaved, p, m, 2),
                  3 * m + 1.5 * (p - 1));
    }
}

TEST(Schedule, NamesAreThoseOfTheCommandLine) {
  for (const char *name :
       {"gpipe", "1f1b", "interleaved", "zb-h1", "zb-v", "naive"}) {
    auto kind = scheduleByName(name);
    ASSERT_TRUE(kind);
    EXPECT_EQ(nameOf(*kind), name);
  }
  EXPECT_FALSE(scheduleByName("2f2b"));
}

TEST(Schedule, ImpossibleRequestsSayWhy) {
  EXPECT_EQ(scheduleError({ScheduleKind::OneFOneB, 4, 2, 8}),
            "schedule 1f1b runs 1 stage per rank, got 2 virtual stages");
  EXPECT_EQ(scheduleError({ScheduleKind::ZbV, 4, 1, 8}),
            "schedule zb-v runs 2 stages per rank, got 1 virtual stages");
  EXPECT_NE(makeSchedule({ScheduleKind::GPipe, 0, 1, 8}).status().message(),
            "");
}

TEST(Schedule, ActionsAreWrittenAsInPyTorchsFiles) {
  for (const char *text : {"0F0", "12B3", "1I0", "3W7", "2UNSHARD", "2RESHARD",
                           "0REDUCE_GRAD", "0SEND_F3", "1RECV_B0", "4U"})
    EXPECT_EQ(print(parseAction(text).value_or(Action{})), text);
  for (const char *text : {"", "F0", "0X1", "0F", "0F1x", "-1F0", "-0F0",
                           "0F-1", "0F-0", "-0.0F0", "99999999999F0"})
    EXPECT_FALSE(parseAction(text)) << text;
}

TEST(Schedule, TablesSurviveTheCsvForm) {
  for (ScheduleKind kind : {ScheduleKind::Interleaved, ScheduleKind::ZbV}) {
    ActionTable table = make(kind, 4, 8);
    auto parsed = readSchedule(printCsv(table), {.numPositions = 4});
    EXPECT_EQ(parsed.status().message(), "");
    EXPECT_EQ(*parsed, table);
  }
}

TEST(Schedule, CsvFilesMayHaveIdleSlotsFusedActionsAndMessages) {
  const ScheduleShape shape{.numPositions = 2};
  auto parsed =
      readSchedule("0F0,0SEND_F0,,0RECV_B0,(0F1;0B0)OVERLAP_F_B,0B1\r\n"
                   ",1RECV_F0,1F0,1B0,1F1,1B1\n",
                   shape);
  EXPECT_EQ(parsed.status().message(), "");
  EXPECT_EQ(printCsv(*parsed), "0F0,0F1,0B0,0B1\n1F0,1B0,1F1,1B1\n");
  EXPECT_EQ(readSchedule("0F0\n1F0,1G0\n", shape).status().message(),
            "line 2, column 5: '1G0' is not an action (expected for example "
            "0F3, 0B3, 0I3 or 0W3)");
  EXPECT_EQ(readSchedule("0F0,2F0", {.numPositions = 1}).status().message(),
            "the schedule has no action of stage 1, but one of stage 2");
}

TEST(Schedule, TheChartShowsWorkAndBubbles) {
  EXPECT_EQ(drawTimeline(simulate(make(ScheduleKind::OneFOneB, 2, 2)), 9),
            "FF..BB.BB\n.FBBFBB..\n");
}

/// Returns the first violation in a table in its file form.
std::string claimOf(std::string_view csv, const std::vector<int> &bound = {}) {
  auto claims = checkSchedule(parseTable(csv), bound);
  return claims.empty() ? "" : claims.front().text;
}

TEST(ScheduleCheck, LostAndDoubledActionsAreFound) {
  EXPECT_EQ(claimOf("0F0,0F1\n1F0\n"),
            "stage 1, microbatch 1 must have one F, got 0");
  EXPECT_EQ(claimOf("0F0,0F0\n"),
            "stage 0, microbatch 0 must have one F, got 2");
  EXPECT_EQ(claimOf("0F0,0I0\n"),
            "stage 0, microbatch 0 must have one B, or one I and one "
            "W; got 0 B, 1 I, 0 W");
}

TEST(ScheduleCheck, WrongOrderIsFound) {
  EXPECT_EQ(claimOf("0B0,0F0\n"), "0B0 comes before its F");
  EXPECT_EQ(claimOf("0F0,0W0,0I0\n"), "0W0 comes before its I");
}

TEST(ScheduleCheck, AnActionOfAnotherPositionsStageIsFound) {
  EXPECT_EQ(claimOf("0F0\n1F0,0F1,1F1\n"),
            "position 1 has 0F1, but stage 0 is on position 0");
}

TEST(ScheduleCheck, PositionsThatWaitForEachOtherAreNamed) {
  EXPECT_EQ(claimOf("0F0,0B0,0F1,0B1\n1F0,1F1,1B0,1B1\n"),
            "the schedule cannot proceed: position 0 at 0B0 waits for the "
            "gradient of 1F0; position 1 at 1F1 waits for 0F1");
}

TEST(ScheduleCheck, TooManyLiveForwardsAreFound) {
  EXPECT_EQ(claimOf("0F0,0F1,0B0,0B1\n", {1}),
            "position 0 keeps 2 forwards alive, but the schedule declares 1");
}

TEST(ScheduleCheck, ActionsOfAWholeStageKeepTheirPlace) {
  EXPECT_EQ(claimOf("0UNSHARD,0F0,0B0,0RESHARD,0REDUCE_GRAD,0U\n"), "");
  EXPECT_EQ(claimOf("0F0,0UNSHARD,0B0\n"),
            "0UNSHARD comes after the first use of its stage");
  EXPECT_EQ(claimOf("0F0,0RESHARD,0B0\n"),
            "0B0 comes after the last RESHARD of its stage");
  EXPECT_EQ(claimOf("0F0,0REDUCE_GRAD,0B0\n"),
            "0B0 comes after REDUCE_GRAD of its stage");
  EXPECT_EQ(claimOf("0F0,0U,0B0\n"), "0B0 comes after the update of its stage");
  ActionTable table = make(ScheduleKind::ZbV, 2, 4);
  appendUpdates(table, {{3, 1}, {0, 0}, {1, 0}, {2, 0}, {3, 0}});
  EXPECT_TRUE(checkSchedule(table).empty());
  EXPECT_EQ(print(table.positions[0].back()), "3U1");
}

} // namespace
