//===- StepLogTest.cpp - what is counted and timed of a step --------------===//

#include "runtime/engine/observe/StepLog.h"
#include "passes/plan/schedule/Schedules.h"
#include "passes/plan/schedule/Simulate.h"

#include <gtest/gtest.h>

using namespace pcc;
using namespace pcc::runtime;

namespace {
program::ActionKind kindOf(plan::ActionKind kind) {
  switch (kind) {
  case plan::ActionKind::Backward:
    return program::ActionKind::Backward;
  case plan::ActionKind::InputGradient:
    return program::ActionKind::InputGradient;
  case plan::ActionKind::WeightGradient:
    return program::ActionKind::WeightGradient;
  default:
    return program::ActionKind::Forward;
  }
}

/// Returns the program of a position, without instructions.
program::ProgramT programOf(const plan::ActionTable &table, int position) {
  program::ProgramT program;
  program.stage_positions.assign(table.positionOfStage.begin(),
                                 table.positionOfStage.end());
  for (const plan::Action &action : table.positions[size_t(position)]) {
    auto &made =
        program.actions.emplace_back(std::make_unique<program::ActionT>());
    made->kind = kindOf(action.kind);
    made->stage = action.stage;
    made->microbatch = action.microbatch;
  }
  return program;
}

void runStep(const program::ProgramT &program, StepLog &log) {
  log.beginStep();
  for (size_t i = 0; i < program.actions.size(); ++i) {
    log.beginAction(i);
    log.endAction(i);
  }
}

constexpr plan::ScheduleKind kinds[] = {
    plan::ScheduleKind::ForwardOnly, plan::ScheduleKind::Naive,
    plan::ScheduleKind::GPipe,       plan::ScheduleKind::OneFOneB,
    plan::ScheduleKind::Interleaved, plan::ScheduleKind::ZbH1,
    plan::ScheduleKind::ZbV};

/// Returns, by stage, the largest number of microbatches whose activations the
/// stage keeps at once, from F to B or W. All are 0 if the table has no
/// backward pass.
std::vector<int> plannedLive(const plan::ActionTable &table) {
  std::vector<int> live(table.numStages), peak(table.numStages);
  bool trains = false;
  for (const std::vector<Action> &row : table.positions)
    for (const Action &action : row) {
      const bool isForward = action.kind == ActionKind::Forward;
      const bool frees = action.kind == ActionKind::Backward ||
                         action.kind == ActionKind::WeightGradient;
      trains |= frees;
      live[action.stage] += int(isForward) - int(frees);
      peak[action.stage] = std::max(peak[action.stage], live[action.stage]);
    }
  return trains ? peak : std::vector<int>(table.numStages);
}

/// Returns the counts of all positions in two steps.
std::vector<int> countedLive(const plan::ActionTable &table) {
  std::vector<int> all(size_t(table.numStages), 0);
  for (int position = 0; position < table.numPositions(); ++position) {
    const program::ProgramT program = programOf(table, position);
    StepLog log(program, StepDetail::Counts);
    runStep(program, log);
    runStep(program, log);
    for (size_t stage = 0; stage < all.size(); ++stage)
      all[stage] += log.peakLive()[stage];
    EXPECT_TRUE(log.eventsOfLastStep().empty()) << "nobody asked";
  }
  return all;
}
} // namespace

TEST(StepLog, CountsWhatThePlanSays) {
  for (plan::ScheduleKind kind : kinds)
    for (int p : {1, 2, 3, 4, 8})
      for (int m : {1, 2, 5, 8, 16}) {
        const plan::ActionTable table =
            *plan::makeSchedule({kind, p, plan::defaultVirtualStages(kind), m});
        EXPECT_EQ(countedLive(table), plannedLive(table))
            << nameOf(kind) << " p=" << p << " m=" << m;
      }
}

/// min(p - s, m) microbatches are live on stage s.
TEST(StepLog, LiveActivationsOf1F1B) {
  for (int p : {1, 2, 4, 7})
    for (int m : {1, 3, 8}) {
      std::vector<int> expected;
      for (int stage = 0; stage < p; ++stage)
        expected.push_back(std::min(p - stage, m));
      EXPECT_EQ(countedLive(*plan::makeSchedule(
                    {plan::ScheduleKind::OneFOneB, p, 1, m})),
                expected);
    }
}

TEST(StepLog, KeepsTheLastStep) {
  const program::ProgramT program = programOf(
      *plan::makeSchedule({plan::ScheduleKind::OneFOneB, 1, 1, 2}), 0);
  StepLog log(program, StepDetail::Actions);
  const double before = StepLog::clock();
  runStep(program, log);
  const StepLog::Event *memory = log.eventsOfLastStep().data();
  runStep(program, log);
  ASSERT_EQ(log.eventsOfLastStep().size(), 4u);
  EXPECT_EQ(log.eventsOfLastStep().data(), memory) << "nothing is allocated";
  double last = before;
  for (const StepLog::Event &event : log.eventsOfLastStep()) {
    EXPECT_EQ(event.instruction, StepLog::wholeAction);
    EXPECT_GE(event.start, last);
    EXPECT_GE(event.end, event.start);
    last = event.end;
  }
}

/// A log has space for every instruction only if kernels are asked for.
TEST(StepLog, KeepsKernelsIfAskedFor) {
  program::ProgramT program =
      programOf(*plan::makeSchedule({plan::ScheduleKind::GPipe, 1, 1, 2}), 0);
  auto &function =
      program.functions.emplace_back(std::make_unique<program::FunctionT>());
  for (int i = 0; i < 3; ++i)
    function->instructions.push_back(std::make_unique<program::InstructionT>());
  for (auto &action : program.actions)
    action->function = 0;
  const auto eventsWith = [&](StepDetail detail) {
    StepLog log(program, detail);
    log.beginStep();
    for (size_t i = 0; i < program.actions.size(); ++i) {
      log.beginAction(i);
      for (int instruction = 0; instruction < 3; ++instruction)
        log.addKernel(i, instruction, log.now());
      log.endAction(i);
    }
    return log.eventsOfLastStep().size();
  };
  EXPECT_EQ(eventsWith(StepDetail::Counts), 0u);
  EXPECT_EQ(eventsWith(StepDetail::Actions), program.actions.size());
  EXPECT_EQ(eventsWith(StepDetail::Kernels), 4 * program.actions.size());
}
