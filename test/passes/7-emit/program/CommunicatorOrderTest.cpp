//===- CommunicatorOrderTest.cpp - all ranks call alike -------------------===//

#include "passes/7-emit/program/CommunicatorOrder.h"
#include "passes/7-emit/program/ProgramWriter.h"
#include "test/passes/7-emit/program/Modules.h"

#include <gtest/gtest.h>

using namespace mlir;
using namespace pcc;
using namespace pcc::emit;
using namespace pcc::test;

namespace {
/// Programs of two positions with two ranks each, which the tests break.
class CommunicatorOrderTest : public testing::Test {
protected:
  CommunicatorOrderTest() {
    loadDialects(context);
    module = parseSourceString<ModuleOp>(twoStages, ParserConfig(&context));
    Status status = writePrograms(*module, facts, programs);
    EXPECT_TRUE(status.ok()) << status.message();
  }

  std::string findDeadlock() const {
    return emit::findDeadlock(
        *facts, std::vector<const program::ProgramT *>{&programs[0].tables,
                                                       &programs[1].tables});
  }

  /// Returns the first action of a kind.
  program::ActionT &first(int position, program::ActionKind kind) {
    for (auto &action : programs[position].tables.actions)
      if (action->kind == kind)
        return *action;
    ADD_FAILURE() << "position " << position << " has none";
    return *programs[position].tables.actions.front();
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  std::optional<ModelFacts> facts;
  std::vector<PositionProgram> programs;
};
} // namespace

TEST_F(CommunicatorOrderTest, WrittenProgramsCallAlike) {
  EXPECT_EQ(findDeadlock(), "");
}

TEST_F(CommunicatorOrderTest, GroupsOfOneProgramAreThoseOfAll) {
  auto &groups = programs[1].tables.groups;
  groups.push_back(std::make_unique<program::GroupT>(*groups.front()));
  EXPECT_EQ(findDeadlock(), "positions 0 and 1 would create other "
                            "communicators: their groups differ");
}

TEST_F(CommunicatorOrderTest, WaysOfMessagesAreThoseOfAll) {
  std::swap(programs[1].tables.transfers[0]->from_stage,
            programs[1].tables.transfers[0]->to_stage);
  EXPECT_EQ(findDeadlock(),
            "positions 0 and 1 would create other communicators: their "
            "transfers between stages differ");
}

TEST_F(CommunicatorOrderTest, AGroupOverPositionsIsRefused) {
  for (PositionProgram &program : programs)
    program.tables.groups[0]->parts = {program::Part(0, 1, 2)};
  EXPECT_EQ(findDeadlock(), "group 0 has members in several positions, which "
                            "execute several programs");
}

TEST_F(CommunicatorOrderTest, AMessageOfAnotherMicrobatchIsFound) {
  program::ActionT &post = first(1, program::ActionKind::Post);
  post.receives[0] = program::Message(0, 1);
  EXPECT_EQ(findDeadlock(),
            "action 0 of position 1 is not the one that was replayed");
}

TEST_F(CommunicatorOrderTest, AMissingPostIsFound) {
  auto &actions = programs[0].tables.actions;
  actions.pop_back();
  EXPECT_EQ(findDeadlock(),
            "action " + std::to_string(actions.size()) +
                " of position 0 is not the one that was replayed");
}

/// Positions wait for each other, and all programs agree on that.
TEST_F(CommunicatorOrderTest, AWaitThatNothingEndsIsFound) {
  auto &steps = facts->pipeline.positions[0];
  auto &actions = programs[0].tables.actions;
  const auto at = llvm::find_if(steps, [](const plan::ProgramStep &step) {
    return step.kind == plan::ProgramStep::Post;
  });
  actions.erase(actions.begin() + (at - steps.begin()));
  steps.erase(at);
  EXPECT_EQ(findDeadlock(),
            "position 0 waits for 0F0, which it has not posted");
}
