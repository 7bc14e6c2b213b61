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
  /// Number of stages per pipeline position, and number of microbatches. If one
  /// of them is 0, any number is accepted.
  int virtualStages = 0;
  int numMicrobatches = 0;
  /// Whether the schedule must have a backward pass: B (backward) actions, or I
  /// (input gradient) and W (weight gradient) actions. If false, it must
  /// consist of F (forward) actions alone.
  bool trains = true;
};

/// Parses the file of `--schedule FILE.csv`: the CSV form of PyTorch's pipeline
/// schedules, one line per pipeline position, actions separated by commas.
/// Checks its sizes against `shape` and its actions with `checkSchedule`.
///  - Empty fields (idle slots) and empty lines are skipped.
///  - A fused `(0F1;3B0)OVERLAP_F_B` becomes its actions, one after another.
///  - A stage belongs to the first line that mentions it.
///
/// The table has only the F (forward), B (backward), I (input gradient) and W
/// (weight gradient) actions of the file; each line is one position. All other
/// actions of the file are dropped, because pcc derives them:
///  - sends and receives from the transfers of the model;
///  - UNSHARD and RESHARD (gathering and release of weights) from the values
///    that all microbatches of a stage share;
///  - REDUCE_GRAD (reduction of gradients) from the shardings of gradients;
///  - U (update) from the optimizer.
/// In the table, a stage has either B, or I and W. If the file has I and W of a
/// stage in some microbatches and B in others, each B becomes an I directly
/// followed by a W.
///
/// An error has exit code 6. It names line and column, the action there, and
/// what is expected:
///
///     line 2, column 5: 1F8 is of microbatch 8, but there are 8 (0 to 7)
StatusOr<ActionTable> readSchedule(std::string_view text,
                                   const ScheduleShape &shape);

/// Returns whether the table has a backward pass of `stage`: at least one B
/// (backward) or I (input gradient) action.
bool hasBackward(const ActionTable &table, int stage);

/// Returns whether the backward pass of `stage` is divided into I (input
/// gradient) and W (weight gradient) actions: the table has at least one I of
/// `stage`.
bool splitsBackward(const ActionTable &table, int stage);

} // namespace pcc::plan

#endif // PCC_PASSES_PLAN_SCHEDULE_SCHEDULEFILE_H
