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

/// Parses the CSV file of --schedule, in the format of PyTorch's pipeline
/// schedules: one line per pipeline rank, such as 0F0,0F1,0B0. Keeps only
/// forward and backward actions. If a stage has an I (input gradient), splits
/// each B (backward) of the stage into I and W (weight gradient). Returns an
/// error with exit code 6 if the file is invalid, or if the schedule does not
/// have the numbers in `shape`.
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
