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

/// Parses the CSV file of the option `--schedule`. The file has the form of
/// PyTorch's pipeline schedules: one line per pipeline rank, such as
/// 0F0,0F1,0B0, where 0F1 is F (forward) of stage 0 in microbatch 1. The result
/// has only F, B (backward), I (input gradient) and W (weight gradient). pcc
/// derives all other actions itself. If a stage has an I, each of its B becomes
/// I and W. (0F1;3B0)OVERLAP_F_B becomes 0F1, 3B0. Returns an error with exit
/// code 6 if a field is not an action, if a stage is on two lines, if
/// checkSchedule finds a violation, or if the table does not match `shape`.
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
