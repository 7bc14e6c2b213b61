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
///  - Forward: an activation, between forward actions (F);
///  - Backward: a gradient, between backward actions (B) or, if they are split,
///    input-gradient actions (I);
///  - Update: a value from one part of the optimizer update to the next.
enum class TransferKind : uint8_t { Forward, Backward, Update };

/// Returns whether `action` is of the kind that produces and uses values of
/// `kind`. For example, F (forward) belongs to Forward.
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

/// A value that one stage passes to another, in every microbatch or, for kind
/// Update, once per step. The stages need not be adjacent. If one pipeline
/// position runs both, there is no message.
struct Transfer {
  int fromStage = 0;
  int toStage = 0;
  TransferKind kind = TransferKind::Forward;
  /// For kind Update: number of the part of the optimizer update that produces
  /// the value. The part with the next number uses it. For other kinds: unused.
  int part = 0;
};

/// Kind of the values that an action sends to other stages. For an optimizer
/// update, which can have numbered parts U0, U1, …, also the number of the
/// part; otherwise `part` is 0. U1 has {Update, 1}.
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

/// Returns whether `action` produces the value of `transfer`.
bool makes(const Action &action, const Transfer &transfer);

/// Returns whether `action` uses the value of `transfer`.
bool uses(const Action &action, const Transfer &transfer);

/// Returns the microbatch in which `action` produces or uses the value of
/// `transfer`; 0 for kind Update.
int microbatchOf(const Action &action, const Transfer &transfer);

/// One end of a message: a send or a receive of the value of transfer
/// `transfer` in one microbatch. `peer` is the pipeline position at the far
/// end.
struct Message {
  /// Index into PipelineProgram::transfers.
  int transfer = 0;
  int microbatch = 0;
  int peer = 0;

  friend bool operator==(const Message &, const Message &) = default;
};

/// One step in the program of a pipeline position:
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

/// Steps of one pipeline position in the order of execution.
using PositionProgram = std::vector<ProgramStep>;

/// A schedule with its messages: the steps of every pipeline position.
struct PipelineProgram {
  std::vector<PositionProgram> positions;
  /// For each stage: the pipeline position that runs it.
  std::vector<int> positionOfStage;
  std::vector<Transfer> transfers;
};

/// Inserts messages into an action table that checkSchedule accepts.
/// `transfers` are the values that stages pass to each other. A simulation puts
/// the actions of all pipeline positions into one order, by start time.
/// Messages between two positions follow this order.
///
/// Places of the messages in the program of a pipeline position:
///  - A send is posted right after the action that produces the value.
///  - A receive is posted `early` actions before the action that uses the
///    value. It is posted even earlier if this is needed to keep the order of
///    the sends.
///  - The receiver waits for the value right before the action that uses it.
///  - The sender waits for its send of value k right before the action that
///    produces value k + 2 of the same transfer. At most two messages of a
///    transfer are then on their way.
///  - If the simulation posts the receive only after that action has started,
///    the sender waits before value k + 3, k + 4, …, or at the end.
///
/// Example for position 1 with stage 1. {+ …} posts and {? …} waits. s1F0>2 is
/// the send of value 1F0 to position 2, and r0F2<0 is the receive of 0F2 from
/// position 0:
///
///     1F0 {+s1F0>2 +r0F2<0} {?r0F1<0} 1F1 {+s1F1>2} {?r0F2<0 ?s1F0>2} 1F2
///
/// No deadlock is possible: in the order of the simulation, every wait comes
/// after the posts of both ends of its messages.
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
