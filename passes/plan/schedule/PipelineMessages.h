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
#include "status/StatusOr.h"

namespace pcc::plan {

/// Kind of value that a transfer carries from stage to stage:
///  - Forward: an activation, produced and used by forward actions (F);
///  - Backward: a gradient, produced and used by backward actions (B) or, if
///    the backward pass is divided, by input-gradient actions (I);
///  - Update: a value that one part of the optimizer update passes to the next
///    part.
enum class TransferKind : uint8_t { Forward, Backward, Update };

/// Returns whether actions of the kind of `action` produce or use the values
/// that transfers of `kind` carry. For example, an F action (forward) belongs
/// to the kind Forward.
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

/// A value that one stage passes to another stage. It is passed in every
/// microbatch, or once per step if `kind` is Update. The stages need not be
/// adjacent. If one pipeline position runs both stages, the transfer needs no
/// message.
struct Transfer {
  int fromStage = 0;
  int toStage = 0;
  TransferKind kind = TransferKind::Forward;
  /// For a transfer of kind Update: number of the part of the update that
  /// produces the value; the part with the next number uses the value. For
  /// transfers of other kinds it is unused.
  int part = 0;
};

/// Identifies the transfers that carry the results of one action to other
/// stages. `kind` is the kind of these transfers. `part` is the number of the
/// update part that the action executes; 0 if `kind` is not Update. For
/// example, U1 (part 1 of the update) has {Update, 1}.
struct SendPart {
  TransferKind kind = TransferKind::Forward;
  int part = 0;
};

/// Returns the kind and part of the values that an action sends to other
/// stages. `action` is its name: F (forward), B (backward), I (input gradient),
/// W (weight gradient), or U0, U1, … (parts of the update). For example, "U1"
/// gives {Update, 1}. The name of an action that sends nothing, such as
/// UNSHARD, gives {Forward, 0}.
SendPart sendPartOf(std::string_view action);

/// Returns whether `action` produces the value of `transfer` for the microbatch
/// of the action.
bool makes(const Action &action, const Transfer &transfer);

/// Returns whether `action` uses the value of `transfer` for the microbatch of
/// the action.
bool uses(const Action &action, const Transfer &transfer);

/// Returns the microbatch in which `action` produces or uses the value of
/// `transfer`; 0 if `transfer` is of kind Update.
int microbatchOf(const Action &action, const Transfer &transfer);

/// One end of a message: a send in the program of the sender, or a receive in
/// the program of the receiver. The message carries the value of transfer
/// `transfer` in one microbatch. `peer` is the pipeline position at the
/// opposite end.
struct Message {
  /// Index into PipelineProgram::transfers.
  int transfer = 0;
  int microbatch = 0;
  int peer = 0;

  friend bool operator==(const Message &, const Message &) = default;
};

/// One step in the program of a pipeline position:
///  - Compute executes `action`;
///  - Post begins the sends and receives and does not wait for them;
///  - Wait blocks until its sends and receives are delivered. An earlier Post
///    step must have begun them.
struct ProgramStep {
  enum Kind : uint8_t { Compute, Post, Wait };
  Kind kind = Compute;
  /// The action that a Compute step executes. Unused in other steps.
  Action action = {};
  /// Messages that a Post step begins to send and receive, or that a Wait step
  /// waits for.
  std::vector<Message> sends = {};
  std::vector<Message> receives = {};
};

/// Steps of one pipeline position in the order of execution.
using PositionProgram = std::vector<ProgramStep>;

/// A schedule with its messages: the steps of every position (rank of the
/// pipeline).
struct PipelineProgram {
  std::vector<PositionProgram> positions;
  /// For each stage: index of the pipeline position that runs the stage.
  std::vector<int> positionOfStage;
  std::vector<Transfer> transfers;
};

/// Inserts messages for `transfers` into a table that checkSchedule accepts.
///
/// Order: all actions and messages have one global order. Actions are in the
/// order in which a simulation starts them, and each action is followed by its
/// sends. From one pipeline position to another, messages are sent and received
/// in this order.
///
/// Places of the messages in the program of a position:
///  - A send is posted right after the action that produces the value.
///  - A receive is posted `early` actions before the action that uses the
///    value, so that the message travels while these actions run. Receives from
///    one sender are posted in the order of the sends. To keep this order, a
///    receive may be posted even earlier.
///  - The program waits for a receive right before the action that uses the
///    value.
///  - The program waits for the send of message k of a transfer right before
///    the action that produces message k + 2 of this transfer. Then at most two
///    messages of a transfer are on their way. (A transfer has one message per
///    microbatch.)
///  - Exception: the wait for the send must come after the post of the receive
///    in the global order. If it would not, the program waits before the action
///    that produces message k + 3, k + 4, …, or at the end of the program.
///
/// Example of a row (+ posted, ? waited for, s send, r receive): s1F0>2 is the
/// send of value 1F0 to position 2.
///
///     1F0 {+s1F0>2 +r0F2<0} {?r0F1<0} 1F1 {+s1F1>2} {?r0F2<0 ?s1F0>2} 1F2
///
/// Deadlock freedom: in the global order, every wait comes after the posts of
/// both ends of its messages. Therefore the first step that has not been
/// executed can always be executed. `replay` checks the result once more.
StatusOr<PipelineProgram> insertMessages(const ActionTable &table,
                                         const std::vector<Transfer> &transfers,
                                         int early = 1);

/// Returns the name of the value that a message carries: 0F3 is the activation
/// of stage 0 in microbatch 3, 1B3 is a gradient of stage 1 in microbatch 3,
/// and 2U0 is a value from part 0 of the update of stage 2.
std::string nameOf(const PipelineProgram &program, const Message &message);

} // namespace pcc::plan

#endif // PCC_PASSES_PLAN_SCHEDULE_PIPELINEMESSAGES_H
