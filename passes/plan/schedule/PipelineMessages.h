//===- PipelineMessages.h - sends and receives between pipeline positions -===//
//
// Inserts the point-to-point messages of a pipeline into an action table. The
// messages follow from the transfers of the model (which stage needs a value of
// which other stage), so a schedule contains computation only.
//
//===----------------------------------------------------------------------===//

#ifndef PCC_PASSES_PLAN_SCHEDULE_PIPELINEMESSAGES_H
#define PCC_PASSES_PLAN_SCHEDULE_PIPELINEMESSAGES_H

#include "passes/plan/schedule/ActionTable.h"

namespace pcc::plan {

/// Kind of values that a transfer carries: activations (produced and used by
/// F), gradients (produced and used by B or I), or values that one part of the
/// update passes to the next part.
enum class TransferKind : uint8_t { Forward, Backward, Update };

/// Returns whether actions like `action` produce and use the values of
/// transfers of `kind`.
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

/// A value that one stage passes to another stage in every microbatch; for
/// updates, once per step. The stages need not be adjacent. If one position
/// runs both stages, the transfer needs no message.
struct Transfer {
  int fromStage = 0;
  int toStage = 0;
  TransferKind kind = TransferKind::Forward;
  /// For transfers of updates: the part of the update that produces the value.
  /// The part after it uses the value.
  int part = 0;
};

/// The kind of the transfers that a function sends and, for an update, the
/// number of its part.
struct SendPart {
  TransferKind kind = TransferKind::Forward;
  int part = 0;
};

/// Returns the kind and part of a function from the name of its action (F, B,
/// I, W, U0, U1, …). Names without transfers, such as UNSHARD, count as F.
SendPart sendPartOf(std::string_view action);

/// Returns whether `action` produces the value of `transfer`, in one of the
/// microbatches.
bool makes(const Action &action, const Transfer &transfer);

/// Returns whether `action` uses the value of `transfer`, in one of the
/// microbatches.
bool uses(const Action &action, const Transfer &transfer);

/// Returns the microbatch of the value of `transfer` that `action` produces or
/// uses; 0 for transfers of updates.
int microbatchOf(const Action &action, const Transfer &transfer);

/// One end of a message: the value of one transfer in one microbatch, sent to
/// or received from position `peer`.
struct Message {
  /// Index into PipelineProgram::transfers.
  int transfer = 0;
  int microbatch = 0;
  int peer = 0;

  friend bool operator==(const Message &, const Message &) = default;
};

/// One step of a position:
///  - Compute executes `action`;
///  - Post begins the sends and receives without waiting for them;
///  - Wait blocks until the sends and receives, posted before, are delivered.
struct ProgramStep {
  enum Kind : uint8_t { Compute, Post, Wait };
  Kind kind = Compute;
  /// The action of a Compute step.
  Action action = {};
  /// The messages of a Post or Wait step.
  std::vector<Message> sends = {};
  std::vector<Message> receives = {};
};

/// Steps of one position in the order of execution.
using PositionProgram = std::vector<ProgramStep>;

/// A schedule with its messages: the steps of every position.
struct PipelineProgram {
  std::vector<PositionProgram> positions;
  /// By stage: index of its position.
  std::vector<int> positionOfStage;
  std::vector<Transfer> transfers;
};

/// A program, or the reason why there is none. If `error` is not empty,
/// `program` must not be executed.
struct PipelineProgramOrError {
  PipelineProgram program;
  std::string error;
};

/// Inserts the messages of `transfers` into a table that checkSchedule accepts.
///
/// Order: one global linearisation orders all messages. It contains the actions
/// in the order in which a simulation starts them, each followed by its sends.
/// Between two positions, messages of one direction are sent and received in
/// this order.
///
/// Places in the program:
///  - A send is posted right after the action that produces the value.
///  - A receive is posted `early` actions before the action that uses the
///    value, so that the message travels while these actions run. It is posted earlier
///    if a later message of the same sender is posted earlier. It is waited for
///    right before the action that uses the value.
///  - A send is waited for before the action that produces the next message but
///    one of its transfer, so that usually at most two messages of a transfer
///    are under way. If the linearisation posts the receive only after that
///    action, the send is waited for before the action of a later message, or
///    at the end.
///
/// Example (+ posted, ? waited for, s send, r receive):
///
///     1F0 {+s1F0>2 +r0F2<0} {?r0F1<0} 1F1 {+s1F1>2} {?r0F2<0 ?s1F0>2} 1F2
///
/// Deadlock freedom: in the linearisation, every wait comes after the posts of
/// both ends of its messages. Therefore the first step that has not been
/// executed can always be executed. `replay` proves it again for the result.
PipelineProgramOrError insertMessages(const ActionTable &table,
                                      const std::vector<Transfer> &transfers,
                                      int early = 1);

/// Returns the program of one position on one line. In the line
/// `0F0 {+s0F0>1 +r1B0<1} {?r1B0<1} 0B0`, stage 0 runs F, posts a send to and a
/// receive from position 1, waits for the receive, and runs B.
std::string print(const PipelineProgram &program, int position);

/// Returns the name of the value that a message carries: 0F3 for the activation
/// of stage 0 in microbatch 3, 1B3 for a gradient of stage 1, 2U0 for a value
/// of part 0 of the update of stage 2.
std::string nameOf(const PipelineProgram &program, const Message &message);

} // namespace pcc::plan

#endif // PCC_PASSES_PLAN_SCHEDULE_PIPELINEMESSAGES_H
