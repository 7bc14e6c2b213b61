// Tests simulations with messages: the costs of blocking calls, compared with
// published figures, and that messages that overlap with actions cost nothing.

#include "passes/plan/schedule/DeadlockCheck.h"
#include "passes/plan/schedule/Schedules.h"
#include "passes/plan/schedule/SimulateMessages.h"

#include "test/passes/plan/schedule/ScheduleFixtures.h"
#include "gtest/gtest.h"

#include <set>

using namespace pcc::plan;

namespace {

ActionTable make(ScheduleKind kind, int p, int m, int v = 0) {
  return *makeSchedule({kind, p, v ? v : defaultVirtualStages(kind), m});
}

/// The lowering of PyTorch's pipeline runtime, from which the published figures
/// come. Positions take turns and run one action each if its inputs have been
/// posted. A send follows its action, and the peer posts the receive at the
/// same moment.
class TurnLowering {
public:
  explicit TurnLowering(const ActionTable &table)
      : table(table), posted(table.positions.size()),
        next(table.positions.size(), 0),
        program{std::vector<PositionProgram>(table.positions.size()),
                table.positionOfStage, chainTransfers(table.numStages, true)} {}

  PipelineProgram run() {
    for (bool moved = true; moved;) {
      moved = false;
      for (int position = 0; position < table.numPositions(); ++position)
        moved |= take(position);
    }
    return program;
  }

private:
  bool isReady(int position, const Action &action) const {
    for (size_t t = 0; t < program.transfers.size(); ++t) {
      const Transfer &transfer = program.transfers[t];
      if (uses(action, transfer) &&
          table.positionOfStage[transfer.fromStage] != position &&
          !posted[position].contains({t, action.microbatch}))
        return false;
    }
    return true;
  }

  bool take(int position) {
    const auto &row = table.positions[position];
    if (next[position] == row.size() || !isReady(position, row[next[position]]))
      return false;
    const Action action = row[next[position]++];
    program.positions[position].push_back({ProgramStep::Compute, action});
    for (size_t t = 0; t < program.transfers.size(); ++t)
      if (makes(action, program.transfers[t]))
        post(position, static_cast<int>(t), action.microbatch);
    return true;
  }

  void post(int from, int transfer, int microbatch) {
    const int to = table.positionOfStage[program.transfers[transfer].toStage];
    if (to == from)
      return;
    program.positions[from].push_back(
        {ProgramStep::Post, {}, {{transfer, microbatch, to}}, {}});
    program.positions[to].push_back(
        {ProgramStep::Post, {}, {}, {{transfer, microbatch, from}}});
    posted[to].insert({static_cast<size_t>(transfer), microbatch});
  }

  const ActionTable &table;
  std::vector<std::set<std::pair<size_t, int>>> posted;
  std::vector<size_t> next;
  PipelineProgram program;
};

/// Formats a row of one stage as in PyTorch's listings.
std::string brief(const PipelineProgram &program, int position) {
  std::string line;
  auto add = [&](const std::string &word) {
    line += (line.empty() ? "" : " ") + word;
  };
  for (const ProgramStep &step : program.positions[position]) {
    if (step.kind == ProgramStep::Compute)
      add(print(step.action).substr(1));
    for (const Message &message : step.sends)
      add("S" + nameOf(program, message).substr(1));
    for (const Message &message : step.receives)
      add("R" + nameOf(program, message).substr(1));
  }
  return line;
}

TEST(Messages, TheLoweringByTurnsIsPyTorchs) {
  const ActionTable table = make(ScheduleKind::OneFOneB, 4, 8);
  const PipelineProgram program = TurnLowering(table).run();
  EXPECT_EQ(brief(program, 0),
            "F0 SF0 F1 SF1 F2 SF2 F3 SF3 RB0 B0 F4 SF4 RB1 B1 F5 SF5 RB2 B2 F6 "
            "SF6 RB3 B3 F7 SF7 RB4 B4 RB5 B5 RB6 B6 RB7 B7");
  EXPECT_EQ(brief(program, 3),
            "RF0 F0 RF1 B0 SB0 F1 RF2 B1 SB1 F2 RF3 B2 SB2 F3 RF4 B3 SB3 F4 "
            "RF5 B4 SB4 F5 RF6 B5 SB5 F6 RF7 B6 SB6 F7 B7 SB7");
}

TEST(Messages, BlockingCallsOneAfterAnotherAreSlow) {
  struct Golden {
    ScheduleKind kind;
    int p, m;
    double makespan;
  };
  for (const Golden &g : {Golden{ScheduleKind::OneFOneB, 4, 8, 45},
                          {ScheduleKind::Interleaved, 4, 8, 45.5},
                          {ScheduleKind::ZbH1, 4, 8, 34},
                          {ScheduleKind::ZbV, 4, 8, 33.5},
                          {ScheduleKind::OneFOneB, 8, 32, 177},
                          {ScheduleKind::Interleaved, 8, 32, 241},
                          {ScheduleKind::ZbV, 8, 32, 141.5}}) {
    const ActionTable table = make(g.kind, g.p, g.m);
    const Timeline timeline =
        simulateMessages(withBlockingCalls(TurnLowering(table).run()));
    EXPECT_EQ(timeline.stuck, "");
    EXPECT_EQ(timeline.makespan, g.makespan) << nameOf(g.kind) << " p=" << g.p;
  }
}

constexpr ScheduleKind trained[] = {
    ScheduleKind::Naive,       ScheduleKind::GPipe, ScheduleKind::OneFOneB,
    ScheduleKind::Interleaved, ScheduleKind::ZbH1,  ScheduleKind::ZbV};

PipelineProgram lower(const ActionTable &table, int early = 1) {
  auto lowered =
      insertMessages(table, chainTransfers(table.numStages, true), early);
  EXPECT_EQ(lowered.status().message(), "");
  return *lowered;
}

template <typename Visit> void forSomeTables(Visit &&visit) {
  for (ScheduleKind kind : trained)
    for (int p : {1, 2, 3, 4, 7, 8})
      for (int m : {1, 2, 3, 5, 8, 13, 16})
        visit(make(kind, p, m), std::string(nameOf(kind)) +
                                    " p=" + std::to_string(p) +
                                    " m=" + std::to_string(m));
}

TEST(Messages, ThatTakeNoTimeCostNone) {
  forSomeTables([](const ActionTable &table, const std::string &name) {
    for (int early : {0, 1, 2}) {
      const Timeline timeline = simulateMessages(lower(table, early));
      ASSERT_EQ(timeline.stuck, "") << name;
      ASSERT_EQ(timeline.makespan, simulate(table).makespan) << name;
      ASSERT_EQ(timeline.idle, simulate(table).idle) << name;
    }
  });
}

/// Compares with receives that are posted when they are needed: their messages
/// only travel while the receiver waits.
TEST(Messages, ThatTakeTimeTravelBesideTheActions) {
  ActionCosts costs;
  costs.transferSeconds = [](int, int) { return 0.25; };
  forSomeTables([&](const ActionTable &table, const std::string &name) {
    const Timeline early = simulateMessages(lower(table, 1), costs);
    ASSERT_EQ(early.stuck, "") << name;
    ASSERT_EQ(early.makespan, simulate(table, costs).makespan) << name;
    ASSERT_LE(early.makespan, simulateMessages(lower(table, 0), costs).makespan)
        << name;
  });
  const ActionTable table = make(ScheduleKind::Interleaved, 8, 32);
  EXPECT_EQ(simulate(table).makespan, 106.5);
  EXPECT_EQ(simulateMessages(lower(table, 1), costs).makespan, 114);
  EXPECT_EQ(simulateMessages(lower(table, 0), costs).makespan, 140);
}

TEST(Messages, BothEndsShowWhenAMessageTravels) {
  ActionCosts costs;
  costs.transferSeconds = [](int from, int) { return from == 0 ? 0.5 : 0.25; };
  const Timeline timeline =
      simulateMessages(lower(make(ScheduleKind::OneFOneB, 2, 1)), costs);
  std::string shown;
  for (const auto &row : timeline.messages) {
    for (const TimedAction &timed : row)
      shown += print(timed.action) + " " + std::to_string(timed.start) + " " +
               std::to_string(timed.end) + "; ";
    shown += "\n";
  }
  EXPECT_EQ(shown, "0SEND_F0 1.000000 1.500000; 0RECV_B0 4.500000 4.750000; \n"
                   "1RECV_F0 1.000000 1.500000; 1SEND_B0 4.500000 4.750000; "
                   "\n");
  EXPECT_EQ(timeline.makespan, 6.75);
  EXPECT_EQ(timeline.idle, (std::vector<double>{3.75, 3.75}));
}

TEST(Messages, WhatNeverArrivesIsNamed) {
  PipelineProgram program = lower(make(ScheduleKind::OneFOneB, 2, 1));
  program.positions[0].erase(program.positions[0].begin() + 2);
  EXPECT_EQ(simulateMessages(program).stuck,
            "position 0 waits forever for 1B0; position 1 waits forever for "
            "0F0");
}

} // namespace
