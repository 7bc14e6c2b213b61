// Messages that take part in a simulation: what blocking calls and layouts of
// queues cost, against the published figures and against the plain simulation.

#include "passes/plan/Rendezvous.h"
#include "passes/plan/Schedules.h"
#include "passes/plan/SimulateMessages.h"

#include "gtest/gtest.h"

#include <set>

using namespace pcc::plan;

namespace {

ActionTable make(ScheduleKind kind, int p, int m, int v = 0) {
  return makeSchedule({kind, p, v ? v : defaultVirtualStages(kind), m}).table;
}

/// The lowering of PyTorch's pipeline runtime, which the published figures
/// come from: positions take turns, one action each if its inputs have been
/// posted; a send follows its action, and the receive is posted to the peer at
/// the same moment.
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
    program.positions[position].push_back({false, action, {}, {}});
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
        {true, {}, {{transfer, microbatch, to}}, {}});
    program.positions[to].push_back(
        {true, {}, {}, {{transfer, microbatch, from}}});
    posted[to].insert({static_cast<size_t>(transfer), microbatch});
  }

  const ActionTable &table;
  std::vector<std::set<std::pair<size_t, int>>> posted;
  std::vector<size_t> next;
  PipelineProgram program;
};

/// A row of one stage as PyTorch's listings print it.
std::string brief(const PipelineProgram &program, int position) {
  std::string line;
  auto add = [&](const std::string &word) {
    line += (line.empty() ? "" : " ") + word;
  };
  for (const ProgramStep &step : program.positions[position]) {
    if (!step.isExchange)
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

double makespanByTurns(const ActionTable &table, MessageFlow flow,
                       double latency = 0) {
  ActionCosts costs;
  costs.transferSeconds = [=](int, int) { return latency; };
  const Timeline timeline =
      simulateMessages(TurnLowering(table).run(), flow, costs);
  EXPECT_EQ(timeline.stuck, "");
  return timeline.makespan;
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
                          {ScheduleKind::ZbV, 8, 32, 141.5}})
    EXPECT_EQ(makespanByTurns(make(g.kind, g.p, g.m), MessageFlow::Blocking),
              g.makespan)
        << nameOf(g.kind) << " p=" << g.p;
}

TEST(Messages, LayoutsOfQueuesTakeWhatWasPublished) {
  struct Golden {
    ScheduleKind kind;
    int v;
    MessageFlow flow;
    double atOnce, afterLatency;
  };
  constexpr ScheduleKind interleaved = ScheduleKind::Interleaved;
  for (const Golden &g :
       {Golden{interleaved, 2, MessageFlow::OneQueue, 132, 137.2},
        {interleaved, 2, MessageFlow::QueuePerDirection, 106.5, 108.15},
        {interleaved, 2, MessageFlow::QueuePerWave, 131, 135.9},
        {interleaved, 2, MessageFlow::QueuePerPeer, 106.5, 108},
        {interleaved, 4, MessageFlow::OneQueue, 138, 151.45},
        {interleaved, 4, MessageFlow::QueuePerPeer, 101.25, 104.35},
        {ScheduleKind::ZbV, 2, MessageFlow::OneQueue, 105.5, 107.95},
        {ScheduleKind::ZbV, 2, MessageFlow::QueuePerDirection, 105.5, 107.9},
        {ScheduleKind::ZbV, 2, MessageFlow::QueuePerPeer, 99.5, 101.15}}) {
    const ActionTable table = make(g.kind, 8, 32, g.v);
    EXPECT_EQ(makespanByTurns(table, g.flow), g.atOnce);
    EXPECT_NEAR(makespanByTurns(table, g.flow, 0.05), g.afterLatency, 1e-9);
  }
}

constexpr MessageFlow queued[] = {
    MessageFlow::OneQueue, MessageFlow::QueuePerDirection,
    MessageFlow::QueuePerWave, MessageFlow::QueuePerPeer};
constexpr ScheduleKind trained[] = {
    ScheduleKind::Naive,       ScheduleKind::GPipe, ScheduleKind::OneFOneB,
    ScheduleKind::Interleaved, ScheduleKind::ZbH1,  ScheduleKind::ZbV};

PipelineProgram inOrder(const ActionTable &table) {
  auto lowered = lowerInOrder(table, chainTransfers(table.numStages, true));
  EXPECT_EQ(lowered.error, "");
  return lowered.program;
}

template <typename Visit> void forSomeTables(Visit &&visit) {
  for (ScheduleKind kind : trained)
    for (int p : {1, 2, 3, 4, 7, 8})
      for (int m : {1, 2, 3, 5, 8, 13, 16})
        visit(make(kind, p, m), std::string(nameOf(kind)) +
                                    " p=" + std::to_string(p) +
                                    " m=" + std::to_string(m));
}

TEST(Messages, InOneOrderTheyEndEvenIfEveryCallBlocks) {
  forSomeTables([](const ActionTable &table, const std::string &name) {
    const PipelineProgram program = inOrder(table);
    ASSERT_EQ(replay(program).error, "") << name;
    const Timeline timeline = simulateMessages(program, MessageFlow::Blocking);
    ASSERT_EQ(timeline.stuck, "") << name;
    ASSERT_GE(timeline.makespan, simulate(table).makespan) << name;
  });
}

TEST(Messages, AQueuePerPeerCostsNothingBesideThePlainSimulation) {
  forSomeTables([](const ActionTable &table, const std::string &name) {
    const Timeline timeline =
        simulateMessages(inOrder(table), MessageFlow::QueuePerPeer);
    ASSERT_EQ(timeline.stuck, "") << name;
    ASSERT_EQ(timeline.makespan, simulate(table).makespan) << name;
    ASSERT_EQ(timeline.idle, simulate(table).idle) << name;
  });
}

TEST(Messages, QueuesNeverBeatThePlainSimulation) {
  ActionCosts costs;
  costs.transferSeconds = [](int, int) { return 0.25; };
  forSomeTables([&](const ActionTable &table, const std::string &name) {
    const PipelineProgram program = inOrder(table);
    for (MessageFlow flow : queued) {
      const Timeline timeline = simulateMessages(program, flow, costs);
      ASSERT_EQ(timeline.stuck, "") << name;
      ASSERT_GE(timeline.makespan, simulate(table, costs).makespan) << name;
    }
  });
}

TEST(Messages, AGroupedExchangeOf1F1BDoesNotLengthenTheStep) {
  for (auto [p, m] : {std::pair(4, 8), {8, 32}}) {
    const ActionTable table = make(ScheduleKind::OneFOneB, p, m);
    const auto grouped = lowerExchanges(table, chainTransfers(p, true));
    EXPECT_EQ(simulateMessages(grouped.program, MessageFlow::Blocking).makespan,
              simulate(table).makespan);
  }
}

TEST(Messages, BothEndsShowWhenAMessageTravels) {
  ActionCosts costs;
  costs.transferSeconds = [](int from, int) { return from == 0 ? 0.5 : 0.25; };
  const Timeline timeline =
      simulateMessages(inOrder(make(ScheduleKind::OneFOneB, 2, 1)),
                       MessageFlow::QueuePerPeer, costs);
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
  PipelineProgram program = inOrder(make(ScheduleKind::OneFOneB, 2, 1));
  program.positions[0].erase(program.positions[0].begin() + 1);
  EXPECT_EQ(simulateMessages(program, MessageFlow::QueuePerPeer).stuck,
            "position 0 waits forever for what 0B0 needs; position 1 waits "
            "forever for what 1F0 needs");
  EXPECT_EQ(simulateMessages(program, MessageFlow::Blocking).stuck,
            "position 0 waits forever in an exchange; position 1 waits forever "
            "in an exchange");
}

} // namespace
