//===- ScheduleFile.h - parser of user-written CSV schedules --------------===//

#ifndef PCC_PASSES_PLAN_SCHEDULE_SCHEDULEFILE_H
#define PCC_PASSES_PLAN_SCHEDULE_SCHEDULEFILE_H

#include "passes/plan/schedule/ActionTable.h"
#include "status/StatusOr.h"

namespace pcc::plan {

/// Numbers of pipeline ranks, stages and microbatches that the schedule in a
/// file must have.
struct ScheduleShape {
  int numPositions = 1;
  /// Required number of stages per pipeline rank. The value 0 accepts any
  /// number.
  int virtualStages = 0;
  /// Required number of microbatches. The value 0 accepts any number.
  int numMicrobatches = 0;
  /// Whether the schedule must have backward actions: B, or I (input gradient)
  /// and W (weight gradient). If false, it must have forward actions (F) only.
  bool trains = true;
};

/// Parses `text`, the content of the file that the option `--schedule FILE.csv`
/// names. Returns an action table. The table lists the actions of each pipeline
/// rank in order.
///
/// The file has the CSV form of PyTorch's pipeline schedules: one line per
/// pipeline rank, with commas between actions. For example, 0F1 is the forward
/// action F of stage 0 in microbatch 1:
///
///     0F0,0F1,0B0,0B1
///     1F0,1B0,1F1,1B1
///
/// The function makes the table from the file by these rules:
///  - An empty field stands for idle time. The function skips empty fields and
///    empty lines.
///  - PyTorch can write two actions that overlap as one field, such as
///    (0F1;3B0)OVERLAP_F_B. For this field, the table has the actions 0F1 and
///    3B0, one after another.
///  - The backward pass of a stage is one action B, or it is split into I
///    (input gradient) and W (weight gradient). If the file has an I of a
///    stage, the table has I and W in place of each B of this stage.
///
/// The table has only actions of the kinds F, B, I and W. The function drops
/// all other actions of the file, because pcc derives the work of these actions
/// from the model:
///  - Sends and receives: pcc computes which values the stages pass to each
///    other.
///  - UNSHARD gathers the weights of a stage with an all-gather. The all-gather
///    has the same result in all microbatches. pcc finds all work of a stage
///    that has the same result in all microbatches. pcc later adds its own
///    UNSHARD actions, which do this work once per step. A step is one iteration
///    of training, or one run of inference.
///  - RESHARD releases the gathered weights. pcc never uses this action.
///  - REDUCE_GRAD adds up the gradients of data-parallel replicas. pcc derives
///    these sums from the shardings of the gradients.
///  - U is the optimizer update. pcc later adds its own U actions.
///
/// Returns an error with exit code 6 if the file does not meet these
/// requirements:
///  - Each field is empty, is one action, or lists actions that overlap.
///  - All actions of a stage are on one line.
///  - The file has the numbers of ranks, stages per rank and microbatches that
///    `shape` requires.
///  - If `shape.trains` is true, the file has at least one backward action (B,
///    I or W). If `shape.trains` is false, the file has no backward action.
///  - The actions obey the rules of a pipeline schedule. The function
///    checkSchedule tests these rules, and its comment lists them. For example,
///    each stage must have one F per microbatch.
///
/// For example, the action 1F8 is an error if `shape` requires 8 microbatches.
/// The 8 microbatches have the numbers 0 to 7. The text of this error names the
/// place of the action in the file:
///
///     line 2, column 5: 1F8 is of microbatch 8, but there are 8 (0 to 7)
StatusOr<ActionTable> readSchedule(std::string_view text,
                                   const ScheduleShape &shape);

/// Returns whether the table has a backward action of `stage`: B or I (input
/// gradient).
bool hasBackward(const ActionTable &table, int stage);

/// Returns whether the backward pass of `stage` is split: the table has an I
/// (input gradient) of `stage`.
bool splitsBackward(const ActionTable &table, int stage);

} // namespace pcc::plan

#endif // PCC_PASSES_PLAN_SCHEDULE_SCHEDULEFILE_H
