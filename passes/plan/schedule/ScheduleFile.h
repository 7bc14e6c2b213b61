//===- ScheduleFile.h - parser of user-written CSV schedules --------------===//

#ifndef PCC_PASSES_PLAN_SCHEDULE_SCHEDULEFILE_H
#define PCC_PASSES_PLAN_SCHEDULE_SCHEDULEFILE_H

#include "passes/plan/schedule/ActionTable.h"
#include "status/StatusOr.h"

namespace pcc::plan {

/// Sizes that the schedule in a file must have.
struct ScheduleShape {
  int numPositions = 1;
  /// Number of stages per position, and number of microbatches. If one of them
  /// is 0, any number is accepted.
  int virtualStages = 0;
  int numMicrobatches = 0;
  /// Whether the schedule must have a backward pass (B, or I and W). If false,
  /// it must consist of F actions alone.
  bool trains = true;
};

/// Parses the file of `--schedule FILE.csv`: the CSV form of PyTorch's pipeline
/// schedules, one line per position, actions separated by commas. Checks its
/// sizes against `shape` and its actions with `checkSchedule`.
///  - Empty fields (idle slots) and empty lines are skipped.
///  - A fused `(0F1;3B0)OVERLAP_F_B` becomes its actions, one after another.
///  - A stage belongs to the first line that mentions it.
///
/// The table has the F, B, I and W of the file; each line is one position. All
/// other actions of the file are dropped, because pcc derives them:
///  - sends and receives from the transfers of the model;
///  - UNSHARD and RESHARD from the values that all microbatches of a stage
///    share;
///  - REDUCE_GRAD from the shardings of gradients;
///  - U from the optimizer.
/// A stage has one form of backward pass. If it has I and W in some
/// microbatches and B in others, each B becomes I directly followed by W.
///
/// An error names line and column, the action there, and what is expected:
///
///     line 2, column 5: 1F8 is of microbatch 8, but there are 8 (0 to 7)
StatusOr<ActionTable> readSchedule(std::string_view text,
                                   const ScheduleShape &shape);

/// Returns whether the table has a backward pass of `stage`: some B or I.
bool hasBackward(const ActionTable &table, int stage);

/// Returns whether the backward pass of `stage` is divided into I (input
/// gradient) and W (weight gradient): the table has some I of `stage`.
bool splitsBackward(const ActionTable &table, int stage);

} // namespace pcc::plan

#endif // PCC_PASSES_PLAN_SCHEDULE_SCHEDULEFILE_H
