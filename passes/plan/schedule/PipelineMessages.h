//===- PipelineMessages.h - messages between the positions of a pipeline --===//

#ifndef PCC_PASSES_PLAN_SCHEDULE_PIPELINEMESSAGES_H
#define PCC_PASSES_PLAN_SCHEDULE_PIPELINEMESSAGES_H

#include "passes/plan/schedule/ActionTable.h"

namespace pcc::plan {

/// With activations (made and used by F), gradients (by B or I), or what one
/// part of the update gives to the next.
enum class TransferKind : uint8_t { Forward, Backward, Update };

/// Whether an action makes and uses what travels in a kind.
inline bool belongsTo(const Action &action, TransferKind kind) {
  switch (kind) {
  case TransferKind::Forward:
    return action.kind == ActionKind::Forward;
  case TransferKind::Backward:
    return makesInputGradient(action.kind);
  case TransferKind::Update:
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
  TransferKind kind = TransferKind::Forward;
  /// Of an update: the part that sends.
  int part = 0;
};

/// When a function that runs as `action` (F, B, I, W, U0, U1, …) sends.
struct SendPart {
  TransferKind kind = TransferKind::Forward;
  int part = 0;
};
SendPart sendPartOf(std::string_view action);

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

/// A position computes, begins to send and receive messages without waiting for
/// them, or waits until messages are through.
struct ProgramStep {
  enum Kind : uint8_t { Compute, Post, Wait };
  Kind kind = Compute;
  Action action = {};
  std::vector<Message> sends = {};
  std::vector<Message> receives = {};
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
/// each direction of every pair of positions messages go in that order.
///
/// Sends are posted right behind their action. Receives are posted `early`
/// actions before the one that needs them (or that needs a later message of the
/// same sender), so that they travel while those run, and are waited for right
/// before it. A send is waited for before the action that makes the message
/// after the next of its transfer, or a later one: the first that the
/// linearisation starts after the receive was posted; or at the end. With + for
/// what is posted and ? for what is waited for:
///
///     1F0 {+s1F0>2 +r0F2<0} {?r0F1<0} 1F1 {+s1F1>2} {?r0F2<0 ?s1F0>2} 1F2
///
/// Every wait stands, in the linearisation, behind the posts of both ends. So
/// the earliest step that has not been done can always be done, and no program
/// that comes out of here waits forever (`replay` repeats the proof).
PipelineProgramOrError insertMessages(const ActionTable &table,
                                      const std::vector<Transfer> &transfers,
                                      int early = 1);

/// The same program with a blocking call for every message where it is posted,
/// sends before receives.
PipelineProgram withBlockingCalls(const PipelineProgram &program);

/// A position's program on one line: `0F0 {+s0F0>1 +r1B0<1} {?r1B0<1} 0B0` runs
/// F, posts a send to and a receive from position 1, waits for the receive.
std::string print(const PipelineProgram &program, int position);

/// What a message carries: 0F3 for microbatch 3 of a forward transfer from
/// stage 0, 1B3 for a gradient from stage 1.
std::string nameOf(const PipelineProgram &program, const Message &message);

} // namespace pcc::plan

#endif // PCC_PASSES_PLAN_SCHEDULE_PIPELINEMESSAGES_H
