// Tests messages of a pipeline: the places of exchanges, that every schedule
// with any transfers terminates under rendezvous semantics, and that faults are
// found.

#include "passes/plan/schedule/DeadlockCheck.h"
#include "passes/plan/schedule/Schedules.h"
#include "passes/plan/schedule/SimulateMessages.h"

#include "test/passes/plan/schedule/ScheduleFixtures.h"
#include "gtest/gtest.h"

#include <random>

using namespace pcc::plan;

namespace {

ActionTable make(ScheduleKind kind, int p, int m, int v = 0) {
  return *makeSchedule({kind, p, v ? v : defaultVirtualStages(kind), m});
}

PipelineProgram lower(const ActionTable &table,
                      const std::vector<Transfer> &transfers, int early = 1) {
  auto result = insertMessages(table, transfers, early);
  EXPECT_EQ(result.status().message(), "");
  return *result;
}

/// Formats the posts of a chain's program like Megatron's listings: {} all at
/// once, s send, r receive, F activation, B gradient.
std::string brief(const PipelineProgram &program) {
  std::string text;
  auto letter = [&](const Message &message) {
    const bool forward =
        program.transfers[message.transfer].kind == TransferKind::Forward;
    return (forward ? "F" : "B") + std::to_string(message.microbatch);
  };
  for (const PositionProgram &steps : program.positions) {
    std::string line;
    for (const ProgramStep &step : steps) {
      if (step.kind == ProgramStep::Wait)
        continue;
      std::string part;
      for (const Message &message : step.sends)
        part += (part.empty() ? "s" : " s") + letter(message);
      for (const Message &message : step.receives)
        part += (part.empty() ? "r" : " r") + letter(message);
      line += line.empty() ? "" : " ";
      line += step.kind == ProgramStep::Post ? "{" + part + "}"
                                             : print(step.action).substr(1);
    }
    text += line + "\n";
  }
  return text;
}

// clang-format off
const char *const grouped1F1B =
  "F0 {sF0} F1 {sF1} F2 {sF2} F3 {sF3 rB0} B0 F4 {sF4 rB1} B1 F5 {sF5 rB2} B2 F6 {sF6 rB3} B3 F7 {sF7 rB4} B4 {rB5} B5 {rB6} B6 {rB7} B7\n"
  "{rF0} F0 {sF0 rF1} F1 {sF1 rF2} F2 {sF2 rB0} B0 {sB0 rF3} F3 {sF3 rB1} B1 {sB1 rF4} F4 {sF4 rB2} B2 {sB2 rF5} F5 {sF5 rB3} B3 {sB3 rF6} F6 {sF6 rB4} B4 {sB4 rF7} F7 {sF7 rB5} B5 {sB5 rB6} B6 {sB6 rB7} B7 {sB7}\n"
  "{rF0} F0 {sF0 rF1} F1 {sF1 rB0} B0 {sB0 rF2} F2 {sF2 rB1} B1 {sB1 rF3} F3 {sF3 rB2} B2 {sB2 rF4} F4 {sF4 rB3} B3 {sB3 rF5} F5 {sF5 rB4} B4 {sB4 rF6} F6 {sF6 rB5} B5 {sB5 rF7} F7 {sF7 rB6} B6 {sB6 rB7} B7 {sB7}\n"
  "{rF0} F0 B0 {sB0 rF1} F1 B1 {sB1 rF2} F2 B2 {sB2 rF3} F3 B3 {sB3 rF4} F4 B4 {sB4 rF5} F5 B5 {sB5 rF6} F6 B6 {sB6 rF7} F7 B7 {sB7}\n";
// clang-format on

TEST(DeadlockCheck, MessagesOf1F1BThatAreNotEarlyStandWhereMegatronHasThem) {
  ActionTable table = make(ScheduleKind::OneFOneB, 4, 8);
  PipelineProgram program = lower(table, chainTransfers(4, true), 0);
  EXPECT_EQ(brief(program), grouped1F1B);
  EXPECT_TRUE(replay(program).terminates());
}

TEST(DeadlockCheck, Ungrouped1F1BIsRejectedWithItsCycle) {
  for (int p = 2; p <= 8; ++p)
    for (int m = 2; m <= 16; ++m) {
      ActionTable table = make(ScheduleKind::OneFOneB, p, m);
      auto result =
          replay(withBlockingCalls(lower(table, chainTransfers(p, true), 0)));
      ASSERT_FALSE(result.terminates()) << "p=" << p << " m=" << m;
      ASSERT_EQ(result.cycle.size(), 2u);
    }
  ActionTable table = make(ScheduleKind::OneFOneB, 4, 8);
  auto result =
      replay(withBlockingCalls(lower(table, chainTransfers(4, true), 0)));
  EXPECT_EQ(result.cycle, (std::vector<int>{2, 3}));
  EXPECT_EQ(result.error, "deadlock: position 2 sends 2F1 to position 3, "
                          "position 3 sends 3B0 to position 2");
}

constexpr ScheduleKind trained[] = {
    ScheduleKind::Naive,       ScheduleKind::GPipe, ScheduleKind::OneFOneB,
    ScheduleKind::Interleaved, ScheduleKind::ZbH1,  ScheduleKind::ZbV};

TEST(DeadlockCheck, EveryScheduleEndsOnAChain) {
  for (ScheduleKind kind : trained)
    for (int p : {1, 2, 3, 4, 7, 8})
      for (int m : {1, 2, 3, 4, 8, 13}) {
        ActionTable table = make(kind, p, m);
        PipelineProgram program =
            lower(table, chainTransfers(table.numStages, true));
        ASSERT_EQ(replay(program).error, "")
            << nameOf(kind) << " " << p << " " << m;
      }
}

TEST(DeadlockCheck, EveryScheduleEndsWithWhatStagesShare) {
  for (ScheduleKind kind : trained)
    for (int p : {1, 2, 3, 4, 8})
      for (int m : {1, 2, 4, 13})
        for (int step : {1, 2, 3}) {
          ActionTable table = make(kind, p, m);
          std::vector<int> stages;
          for (int stage = 0; stage < table.numStages; stage += step)
            stages.push_back(stage);
          insertUnshards(table, stages);
          PipelineProgram program =
              lower(table, chainTransfers(table.numStages, true));
          ASSERT_EQ(replay(program).error, "")
              << nameOf(kind) << " " << p << " " << m << " " << step;
        }
}

TEST(DeadlockCheck, EveryScheduleEndsWithSkipConnections) {
  std::mt19937 random(3);
  for (int round = 0; round < 400; ++round) {
    const ScheduleKind kind = trained[random() % 6];
    ActionTable table = make(kind, 2 + random() % 6, 1 + random() % 12);
    std::vector<Transfer> transfers = chainTransfers(table.numStages, true);
    for (int extra = random() % 6; extra > 0; --extra) {
      const int from = random() % table.numStages,
                to = random() % table.numStages;
      if (from >= to)
        continue;
      transfers.push_back({from, to, TransferKind::Forward});
      transfers.push_back({to, from, TransferKind::Backward});
    }
    std::shuffle(transfers.begin(), transfers.end(), random);
    PipelineProgram program = lower(table, transfers);
    ASSERT_EQ(replay(program).error, "") << nameOf(kind) << " round " << round;
  }
}

TEST(DeadlockCheck, ForwardOnlyReceivesWhileItComputesWhatCameBefore) {
  PipelineProgram program =
      lower(make(ScheduleKind::ForwardOnly, 2, 4), chainTransfers(2, false));
  EXPECT_EQ(print(program, 0), "0F0 {+s0F0>1} 0F1 {+s0F1>1} {?s0F0>1} 0F2 "
                               "{+s0F2>1} {?s0F1>1} 0F3 {+s0F3>1} "
                               "{?s0F2>1 ?s0F3>1}");
  EXPECT_EQ(print(program, 1), "{+r0F0<0 +r0F1<0} {?r0F0<0} 1F0 {+r0F2<0} "
                               "{?r0F1<0} 1F1 {+r0F3<0} {?r0F2<0} 1F2 "
                               "{?r0F3<0} 1F3");
}

TEST(DeadlockCheck, TheTurnOfAVNeedsNoMessage) {
  PipelineProgram program =
      lower(make(ScheduleKind::ZbV, 1, 2), chainTransfers(2, true));
  for (const ProgramStep &step : program.positions[0])
    EXPECT_EQ(step.kind, ProgramStep::Compute);
}

/// A value from stage 0 to the last stage stays where it was computed until the
/// last stage is about to need it. If only two could be in flight, stage 0
/// would be blocked.
TEST(DeadlockCheck, ASkipConnectionHoldsNobodyBack) {
  const ActionTable table = make(ScheduleKind::OneFOneB, 4, 8);
  std::vector<Transfer> transfers = chainTransfers(4, true);
  transfers.push_back({0, 3, TransferKind::Forward});
  EXPECT_EQ(simulateMessages(lower(table, transfers)).makespan,
            simulate(table).makespan);
}

TEST(DeadlockCheck, InteriorPositionsOf1F1BSendAndReceiveTwicePerMicrobatch) {
  PipelineProgram program =
      lower(make(ScheduleKind::OneFOneB, 4, 8), chainTransfers(4, true));
  for (int position = 0; position < 4; ++position) {
    size_t sends = 0, receives = 0;
    for (const ProgramStep &step : program.positions[position])
      if (step.kind == ProgramStep::Post) {
        sends += step.sends.size();
        receives += step.receives.size();
      }
    const size_t expected = position == 0 || position == 3 ? 8 : 16;
    EXPECT_EQ(sends, expected);
    EXPECT_EQ(receives, expected);
  }
}

/// Returns a small valid program that tests break: 2 positions, 2 microbatches,
/// 1F1B.
PipelineProgram sound() {
  return lower(make(ScheduleKind::OneFOneB, 2, 2), chainTransfers(2, true));
}

/// Returns the messages of the first step of a kind that has some on one side.
std::vector<Message> &first(PipelineProgram &program, int position,
                            ProgramStep::Kind kind,
                            std::vector<Message> ProgramStep::*side) {
  for (ProgramStep &step : program.positions[position])
    if (step.kind == kind && !(step.*side).empty())
      return step.*side;
  ADD_FAILURE();
  return program.positions[position].front().*side;
}

TEST(DeadlockCheck, TheProgramThatIsBrokenBelowIsThis) {
  EXPECT_EQ(print(sound(), 0), "0F0 {+s0F0>1 +r1B0<1} 0F1 {+s0F1>1 +r1B1<1} "
                               "{?r1B0<1} 0B0 {?r1B1<1} 0B1 "
                               "{?s0F0>1 ?s0F1>1}");
  EXPECT_EQ(print(sound(), 1),
            "{+r0F0<0} {?r0F0<0} 1F0 {+r0F1<0} 1B0 {+s1B0>0} "
            "{?r0F1<0} 1F1 1B1 {+s1B1>0} "
            "{?s1B0>0 ?s1B1>0}");
}

TEST(DeadlockCheck, AReceiveThatNobodyPostsIsFound) {
  PipelineProgram program = sound();
  first(program, 1, ProgramStep::Post, &ProgramStep::receives).clear();
  EXPECT_EQ(replay(program).error,
            "position 1 waits for 0F0, which it has not posted");
}

TEST(DeadlockCheck, AReceiveThatNobodyWaitsForIsFound) {
  PipelineProgram program = sound();
  first(program, 1, ProgramStep::Wait, &ProgramStep::receives).clear();
  EXPECT_EQ(replay(program).error,
            "position 1 runs 1F0 before it has received 0F0");
}

TEST(DeadlockCheck, ASendThatNobodyWaitsForIsFound) {
  PipelineProgram program = sound();
  first(program, 1, ProgramStep::Wait, &ProgramStep::sends).pop_back();
  EXPECT_EQ(replay(program).error,
            "position 1 ends without having waited for 1B1");
}

TEST(DeadlockCheck, ALostSendIsFound) {
  PipelineProgram program = sound();
  program.positions[1].pop_back();
  program.positions[1].pop_back();
  EXPECT_EQ(replay(program).error,
            "position 1 ends without having waited for 1B0");
}

TEST(DeadlockCheck, AMessageThatIsPostedTwiceIsFound) {
  PipelineProgram program = sound();
  auto &sends = first(program, 0, ProgramStep::Post, &ProgramStep::sends);
  sends.push_back(sends.front());
  EXPECT_EQ(replay(program).error, "position 0 posts 0F0 twice");
}

TEST(DeadlockCheck, MessagesInAnotherOrderThanExpectedAreFound) {
  PipelineProgram program = sound();
  first(program, 1, ProgramStep::Post, &ProgramStep::receives)[0].microbatch =
      1;
  EXPECT_EQ(replay(program).error,
            "position 0 sends 0F0 to position 1, which expects 0F1");
}

TEST(DeadlockCheck, AValueSentBeforeItIsComputedIsFound) {
  PipelineProgram program = sound();
  std::swap(program.positions[0][0], program.positions[0][1]);
  EXPECT_EQ(replay(program).error,
            "position 0 sends 0F0 before it has computed it");
}

TEST(DeadlockCheck, ImpossibleTransfersSayWhy) {
  ActionTable table = make(ScheduleKind::ForwardOnly, 2, 1);
  EXPECT_EQ(
      insertMessages(table, {{1, 0, TransferKind::Forward}}).status().message(),
      "transfer 0 cannot take activations from stage 1 to stage 0");
  EXPECT_EQ(
      insertMessages(table, {{0, 2, TransferKind::Forward}}).status().message(),
      "transfer 0 cannot take activations from stage 0 to stage 2");
}

} // namespace
