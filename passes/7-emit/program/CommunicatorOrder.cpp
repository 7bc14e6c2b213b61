//===- CommunicatorOrder.cpp - proof that communicators cannot deadlock ---===//

#include "passes/7-emit/program/CommunicatorOrder.h"
#include "passes/plan/schedule/DeadlockCheck.h"
#include "llvm/ADT/STLExtras.h"

using namespace pcc;
using namespace pcc::emit;

/// Compares the mesh axes, the groups of ranks and the transfers between stages
/// of two programs. They determine which communicators a rank creates. Returns
/// the name of the first difference, such as "groups", or an empty string.
static std::string findOtherCommunicators(const program::ProgramT &left,
                                          const program::ProgramT &right) {
  auto areAlike = [](const auto &ofLeft, const auto &ofRight, auto get) {
    return llvm::equal(ofLeft, ofRight, [&](const auto &one, const auto &two) {
      return get(*one) == get(*two);
    });
  };
  if (!areAlike(left.axes, right.axes,
                [](const program::AxisT &axis) { return axis.size; }))
    return "axes";
  const dist::Mesh mesh = runtime::meshOf(left);
  if (!areAlike(left.groups, right.groups, [&](const program::GroupT &group) {
        return runtime::groupOf(group, mesh);
      }))
    return "groups";
  if (left.stage_positions != right.stage_positions ||
      !areAlike(left.transfers, right.transfers,
                [](const program::TransferT &transfer) {
                  return std::pair(transfer.from_stage, transfer.to_stage);
                }))
    return "transfers between stages";
  return {};
}

/// Returns an error message if a group of ranks of `program` has members with
/// different coordinates on the pipeline axis of the mesh, because these
/// members run different programs. Returns an empty string otherwise.
static std::string findWideGroup(const program::ProgramT &program) {
  const dist::Mesh mesh = runtime::meshOf(program);
  for (auto [i, group] : llvm::enumerate(program.groups))
    for (const dist::SubAxis &axis : runtime::groupOf(*group, mesh))
      if (axis.axis == mesh.axes[0].name && axis.size > 1)
        return "group " + std::to_string(i) +
               " has members in several positions, which execute several "
               "programs";
  return {};
}

/// Returns whether two lists of messages are equal. A message sends a value of
/// one microbatch from one pipeline stage to another. Two messages are equal if
/// they have the same value and the same microbatch. `written` lists the
/// messages of one step of a program. `replayed` lists the messages of one step
/// in plan::replay(), which simulates the pipeline to find deadlocks.
static bool areAlike(const std::vector<program::Message> &written,
                     const std::vector<plan::Message> &replayed) {
  return llvm::equal(written, replayed,
                     [](const auto &one, const plan::Message &two) {
                       return one.transfer() == two.transfer &&
                              one.microbatch() == two.microbatch;
                     });
}

static plan::ProgramStep::Kind kindOf(program::ActionKind kind) {
  switch (kind) {
  case program::ActionKind::Post:
    return plan::ProgramStep::Post;
  case program::ActionKind::Wait:
    return plan::ProgramStep::Wait;
  default:
    return plan::ProgramStep::Compute;
  }
}

/// Returns whether `written`, an action of a program, equals `replayed`, a step
/// of the simulated pipeline. Both must run a function of the same stage, or
/// start the same messages, or wait for the same messages.
static bool areAlike(const program::ActionT &written,
                     const plan::ProgramStep &replayed) {
  if (kindOf(written.kind) != replayed.kind)
    return false;
  if (replayed.kind == plan::ProgramStep::Compute)
    return written.stage == replayed.action.stage;
  return areAlike(written.sends, replayed.sends) &&
         areAlike(written.receives, replayed.receives);
}

/// Compares the actions of `program` with `replayed`, the steps that
/// plan::replay() simulates for the same ranks. Returns an error message for
/// the first action that differs, or an empty string.
static std::string findOtherActions(const program::ProgramT &program,
                                    const plan::PositionProgram &replayed) {
  for (size_t i = 0; i < program.actions.size() || i < replayed.size(); ++i)
    if (i >= program.actions.size() || i >= replayed.size() ||
        !areAlike(*program.actions[i], replayed[i]))
      return "action " + std::to_string(i) + " of position " +
             std::to_string(program.position) +
             " is not the one that was replayed";
  return {};
}

std::string
emit::findDeadlock(const ModelFacts &facts,
                   std::span<const program::ProgramT *const> programs) {
  for (const program::ProgramT *program : programs) {
    if (std::string other = findOtherCommunicators(*programs[0], *program);
        !other.empty())
      return "positions " + std::to_string(programs[0]->position) + " and " +
             std::to_string(program->position) +
             " would create other communicators: their " + other + " differ";
    if (std::string fault = findWideGroup(*program); !fault.empty())
      return fault;
    if (std::string fault = findOtherActions(
            *program, facts.pipeline.positions[program->position]);
        !fault.empty())
      return fault;
  }
  // The simulation assumes that a communicator that waits on the GPU leaves
  // enough thread blocks for all other communicators. NcclWorld.cpp ensures
  // this by a limit on the thread blocks of each communicator.
  return plan::replay(facts.pipeline).error;
}
