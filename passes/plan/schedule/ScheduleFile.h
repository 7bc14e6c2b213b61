//===- ScheduleFile.h - parser of user-written CSV schedules --------------===//

#ifndef PCC_PASSES_PLAN_SCHEDULE_SCHEDULEFILE_H
#define PCC_PASSES_PLAN_SCHEDULE_SCHEDULEFILE_H

#include "passes/plan/schedule/ActionTable.h"
#include "status/StatusOr.h"

namespace pcc::plan {

/// Numbers of positions, stages and microbatches that the schedule in a file
/// must have.
struct ScheduleShape {
  int numPositions = 1;
  /// Stages per pipeline position, and number of microbatches; 0 for any
  /// number.
  int virtualStages = 0;
  int numMicrobatches = 0;
  /// Whether the schedule must have backward actions: B, or I (input gradient)
  /// and W (weight gradient). If false, it must have forward actions (F) only.
  bool trains = true;
};

/// Parses the file of `--schedule FILE.csv`: the CSV form of PyTorch's pipeline
/// schedules, one line per pipeline position. Checks its sizes against `shape`
/// and its actions with `checkSchedule`.
///  - Empty fields (idle slots) and empty lines are skipped.
///  - A fused `(0F1;3B0)OVERLAP_F_B` becomes its actions, one after another.
///  - A stage belongs to the first line that mentions it.
///  - If a stage has an I (input gradient) for any microbatch, each B
///    (backward) of this stage becomes I and W (weight gradient).
///
/// The table has only the F, B, I and W actions of the file. Other actions are
/// dropped, because pcc derives them:
///  - sends and receives from the transfers of the model;
///  - UNSHARD and RESHARD (gathering and release of weights) from the values
///    that all microbatches of a stage share;
///  - REDUCE_GRAD (reduction of gradients) from the shardings of gradients;
///  - U (update) from the optimizer.
///
/// An error has exit code 6. It names the place, the action and the expected
/// value:
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
