//===- Exchanges.h - messages between the positions of a pipeline ---------===//

#ifndef PCC_PASSES_PLAN_EXCHANGES_H
#define PCC_PASSES_PLAN_EXCHANGES_H

#include "passes/plan/Action.h"

namespace pcc::plan {

/// With activations (made and used by F), gradients (by B or I), or what one
/// part of the update gives to the next.
enum class Wave : uint8_t { Forward, Backward, Update };

/// Whether an action makes and uses what travels in a wave.
inline bool isOf(const Action &action, Wave wave) {
  switch (wave) {
  case Wave::Forward:
    return action.kind == ActionKind::Forward;
  case Wave::Backward:
    return makesInputGradient(action.kind);
  case Wave::Update:
    return action.kind == ActionKind::Update;
  }
  return false;
}

/// A value that every microbatch takes from one stage to another, not
/// necessarily the next one. Transfers between stages of one position need no
/// message.
struct Transfer {
  int fromStage = 0;
  int toStage = 0;
  Wave wave = Wave::Forward;
  /// Of an update: the part that sends.
  int part = 0;
};

/// When a function that runs as `action` (F, B, I, W, U0, U1, …) sends.
struct WavePart {
  Wave wave = Wave::Forward;
  int part = 0;
};
WavePart waveOfAction(std::string_view action);

/// Whether an action makes, or needs, what a transfer takes.
bool makes(const Action &action, const Transfer &transfer);
bool uses(const Action &action, const Transfer &transfer);
/// The microbatch whose value that is; 0 for what updates exchange.
int microbatchOf(const Action &action, const Transfer &transfer);

/// One value of one microbatch on its way to or from `peer` (a position).
struct Message {
  /// Index into the list of transfers.
  int transfer = 0;
  int microbatch = 0;
  int peer = 0;

  friend bool operator==(const Message &, const Message &) = default;
};

/// A position either computes, or exchanges: all messages of a step are posted
/// together, progress in any order, and are complete before the next step.
struct ProgramStep {
  bool isExchange = false;
  Action action;
  std::vector<Message> sends;
  std::vector<Message> receives;
};

using PositionProgram = std::vector<ProgramStep>;

/// What all positions do in one step, messages included.
struct PipelineProgram {
  std::vector<PositionProgram> positions;
  std::vector<int> positionOfStage;
  std::vector<Transfer> transfers;
};

/// The program, or the reason why there is none.
struct PipelineProgramOrError {
  PipelineProgram program;
  std::string error;
};

/// Transfers of a plain chain of stages: one value from each to the next and,
/// when training, one gradient back.
std::vector<Transfer> chainTransfers(int numStages, bool trains);

/// Inserts the messages of `transfers` into a sound table.
///
/// The messages are numbered by one global linearisation: the actions in the
/// order in which a simulation starts them, each followed by what it sends. In
/// both directions of every pair of positions messages go in that order.
///
/// Sends follow their action at once. Receives stand right before the action
/// that needs them (or that needs a later message of the same sender), in one
/// exchange with the sends of the action before:
///
///     F2  {send F2, receive B0}  B0  {send B0, receive F3}  F3
///
/// Should that wait in a cycle even though an exchange posts everything at
/// once (`replay` tells), every receive moves to the moment of its send in the
/// linearisation. Then every position's program is a projection of one
/// sequence, and even completely blocking messages cannot deadlock.
PipelineProgramOrError lowerExchanges(const ActionTable &table,
                                      const std::vector<Transfer> &transfers);

/// The same messages, every one in an exchange of its own at its moment of the
/// linearisation, its receive as early as its send: what queues of messages
/// see that run beside the actions.
PipelineProgramOrError lowerInOrder(const ActionTable &table,
                                    const std::vector<Transfer> &transfers);

/// The same program with every message in an exchange of its own, sends before
/// receives: what blocking calls one after another would do.
PipelineProgram ungroup(const PipelineProgram &program);

/// A position's program on one line: F0 {sF0} {rF1} … as `0F0 {s0F0>1 r1B0<2}`;
/// a transfer between stages that are not neighbours shows both.
std::string print(const PipelineProgram &program, int position);

/// What a message carries: 0F3 for microbatch 3 of a forward transfer from
/// stage 0, 1B3 for a gradient from stage 1.
std::string nameOf(const PipelineProgram &program, const Message &message);

} // namespace pcc::plan

#endif // PCC_PASSES_PLAN_EXCHANGES_H
