//===- PipelineMessages.h - sends and receives between pipeline ranks -----===//
//
// Inserts the point-to-point messages of a pipeline into an action table. The
// messages follow from the transfers of the model (which stage needs a value of
// which other stage), so a schedule contains computation only.
//
//===----------------------------------------------------------------------===//

#ifndef PCC_PASSES_PLAN_SCHEDULE_PIPELINEMESSAGES_H
#define PCC_PASSES_PLAN_SCHEDULE_PIPELINEMESSAGES_H

#include "passes/plan/schedule/ActionTable.h"
#include "status/StatusOr.h"

namespace pcc::plan {

/// Kind of a value that one stage passes to another stage:
///  - Forward: an activation. An action F (forward) of the sending stage
///    produces the value. An action F of the receiving stage uses the value.
///  - Backward: a gradient. An action B (backward) or I (input gradient) of the
///    sending stage produces the value. An action B or I of the receiving stage
///    uses the value.
///  - Update: a value of the optimizer update. The update of a stage can
///    consist of several actions, U0, U1, and so on. For example, U0 of the
///    sending stage produces the value. U1 of the receiving stage uses it.
enum class TransferKind : uint8_t { Forward, Backward, Update };

/// Returns whether an action produces or uses values of the given kind:
///  - Forward: the action is F (forward).
///  - Backward: the action is B (backward) or I (input gradient).
///  - Update: the action is an optimizer update.
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

/// A value that one stage passes to another stage. The two stages need not be
/// adjacent. An activation or a gradient is passed in every microbatch. A value
/// of the optimizer update is passed once per step. If one pipeline rank runs
/// both stages, the rank sends no message.
struct Transfer {
  int fromStage = 0;
  int toStage = 0;
  TransferKind kind = TransferKind::Forward;
  /// Number of a part of the optimizer update. The update of a stage can
  /// consist of several actions, U0, U1, and so on. For kind Update, the action
  /// with this number produces the value on stage `fromStage`, and the action
  /// with the next number uses it on stage `toStage`. For example, if the
  /// number is 0, U0 of stage `fromStage` produces the value, and U1 of stage
  /// `toStage` uses it. The kinds Forward and Backward do not use this number.
  int part = 0;
};

/// The kind of the values that an action sends to other stages. The optimizer
/// update of a stage can consist of several actions, U0, U1, and so on. For
/// such an action, `part` is its number. For any other action, `part` is 0. For
/// example, U1 has the kind Update and the part 1.
struct SendPart {
  TransferKind kind = TransferKind::Forward;
  int part = 0;
};

/// Returns the kind of the values that an action sends to other stages.
/// `action` is the name of the action. An optimizer update can have numbered
/// parts; the result then has the number of the part:
///
///   "F"    {Forward, 0}
///   "B"    {Backward, 0}
///   "U1"   {Update, 1}
///
/// An action that sends nothing, such as "UNSHARD", gives {Forward, 0}.
SendPart sendPartOf(std::string_view action);

/// Returns whether `action` produces the value of `transfer`. A transfer is a
/// value that one stage passes to another stage. For example, if stage 2 passes
/// an activation to stage 3, the action F (forward) of stage 2 produces the
/// activation.
bool makes(const Action &action, const Transfer &transfer);

/// Returns whether `action` uses the value of `transfer`. A transfer is a value
/// that one stage passes to another stage. For example, if stage 2 passes an
/// activation to stage 3, the action F (forward) of stage 3 uses the
/// activation.
bool uses(const Action &action, const Transfer &transfer);

/// Returns the microbatch in which `action` produces or uses the value of
/// `transfer`. A transfer is a value that one stage passes to another stage.
/// For example, the action 0F3 (stage 0, forward, microbatch 3) gives 3. The
/// optimizer update runs once per step. For a value that the optimizer update
/// passes, the function returns 0.
int microbatchOf(const Action &action, const Transfer &transfer);

/// A send or a receive of one value in one microbatch. The value is given by
/// its index `transfer` in the list of values that stages pass to each other.
/// The peer of a send is the pipeline rank that receives the value. The peer of
/// a receive is the pipeline rank that sends the value.
struct Message {
  /// Index into PipelineProgram::transfers.
  int transfer = 0;
  int microbatch = 0;
  int peer = 0;

  friend bool operator==(const Message &, const Message &) = default;
};

/// One step in the program of a pipeline rank:
///  - Compute executes `action`;
///  - Post begins sends and receives without waiting;
///  - Wait blocks until earlier posted sends and receives are delivered.
struct ProgramStep {
  enum Kind : uint8_t { Compute, Post, Wait };
  Kind kind = Compute;
  /// The action of a Compute step.
  Action action = {};
  /// Messages of a Post or Wait step.
  std::vector<Message> sends = {};
  std::vector<Message> receives = {};
};

/// Steps of one pipeline rank in the order of execution.
using PositionProgram = std::vector<ProgramStep>;

/// A schedule with its messages: the steps of every pipeline rank.
struct PipelineProgram {
  std::vector<PositionProgram> positions;
  /// For each stage: the pipeline rank that runs it.
  std::vector<int> positionOfStage;
  std::vector<Transfer> transfers;
};

/// Inserts messages into an action table that checkSchedule accepts. Returns a
/// program for each pipeline rank: its actions, steps that post messages, and
/// steps that wait for messages. `transfers` are the values that stages pass to
/// each other. The function simulates the action table and sorts the actions of
/// all ranks by start time. The messages from one rank to another have the
/// order of the actions that send them.
///
/// Places of the messages in a program:
///  - The sender posts a send right after the action that produces the value.
///  - The receiver posts a receive `early` actions before the action that uses
///    the value. The receives from one sender must have the order of the sends.
///    If this order requires it, the receiver posts a receive even earlier.
///  - The receiver waits for a message right before the action that uses its
///    value.
///  - The sender waits for a message right before it produces the value of a
///    later message. The messages of one transfer are numbered from 0. The
///    sender waits for message k right before it produces the value of message
///    k + 2. At most two messages of the transfer are then on their way.
///  - The sender must not wait before the receiver has posted the receive in
///    the simulation. If the receiver posts the receive too late, the sender
///    waits right before it produces the value of message k + 3, or of a later
///    message, or it waits at the end of its program.
///
/// The example below has three microbatches. It is a part of the program of
/// rank 1, which runs stage 1, for `early` = 1. 1F0 is an action (stage 1,
/// forward, microbatch 0) and also names the value that it produces:
///
///     {+s1F0>2}   posts the send of 1F0 to rank 2
///     {+r0F2<0}   posts the receive of 0F2 from rank 0
///     {?r0F1<0}   waits for the receive of 0F1 from rank 0
///
///     1F0 {+s1F0>2 +r0F2<0} {?r0F1<0} 1F1 {+s1F1>2} {?r0F2<0 ?s1F0>2} 1F2
///
/// No deadlock is possible: in the order of the simulation, the send and the
/// receive of a message are both posted before any wait for the message.
StatusOr<PipelineProgram> insertMessages(const ActionTable &table,
                                         const std::vector<Transfer> &transfers,
                                         int early = 1);

/// Returns the name of a message's value:
///
///   0F3   activation of stage 0 in microbatch 3
///   1B3   gradient of stage 1 in microbatch 3
///   2U0   value of stage 2 from the first part (0) of its optimizer update
std::string nameOf(const PipelineProgram &program, const Message &message);

} // namespace pcc::plan

#endif // PCC_PASSES_PLAN_SCHEDULE_PIPELINEMESSAGES_H
