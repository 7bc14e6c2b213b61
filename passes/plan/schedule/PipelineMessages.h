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

/// Kind of a value that one stage passes to another: an activation, a gradient,
/// or a value of the optimizer update. The action F (forward) produces and uses
/// activations. The actions B (backward) and I (input gradient) produce and use
/// gradients. A value of the update goes from one update action to the next,
/// such as from U0 of one stage to U1 of another.
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
/// adjacent. An activation or a gradient is passed once for each microbatch. A
/// value of the optimizer update is passed only once in a training step. If one
/// pipeline rank runs both stages, the rank sends no message.
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

/// Kind of the values that an action sends to other stages, and number of the
/// action within the optimizer update. The update of a stage can consist of
/// several actions, U0, U1, and so on. For these actions, `part` is the number
/// after U. For any other action, `part` is 0. For example, U1 has the kind
/// Update and the part 1.
struct SendPart {
  TransferKind kind = TransferKind::Forward;
  int part = 0;
};

/// Returns the kind of the values that the action named `action` sends to other
/// stages, and the number of an update: {Backward, 0} for "B", {Update, 1} for
/// "U1". Returns {Forward, 0} for an action that sends nothing, such as
/// "UNSHARD".
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
/// `transfer`. Returns 0 for a value of the optimizer update, which runs once
/// per training step.
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
  /// Action that the step executes. Only a step of the kind Compute has an
  /// action.
  Action action = {};
  /// Sends and receives of the step. A step of the kind Post begins them. A
  /// step of the kind Wait blocks until all of them are delivered. In a step of
  /// the kind Compute, both lists are empty.
  std::vector<Message> sends = {};
  std::vector<Message> receives = {};
};

/// Steps of one pipeline rank in the order of execution.
using PositionProgram = std::vector<ProgramStep>;

/// The programs of all pipeline ranks. A program is the list of steps that one
/// rank executes. A step executes an action, begins sends and receives, or
/// waits for them. positions[p] is the program of pipeline rank p. `transfers`
/// has the values that stages pass to each other.
struct PipelineProgram {
  std::vector<PositionProgram> positions;
  /// For each stage: the pipeline rank that runs it.
  std::vector<int> positionOfStage;
  std::vector<Transfer> transfers;
};

/// Inserts sends and receives into `table`, which checkSchedule() must accept.
/// Returns programs without deadlocks. A receive is posted `early` actions
/// before the action that uses the value. It is posted even earlier if the
/// receives from one sender would otherwise not have the order of the sends.
/// Returns an error with exit code 6 if `transfers` do not fit `table`, for
/// example if no action uses a value.
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
