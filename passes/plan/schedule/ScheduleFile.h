//===- ScheduleFile.h - parser of user-written CSV schedules --------------===//

#ifndef PCC_PASSES_PLAN_SCHEDULE_SCHEDULEFILE_H
#define PCC_PASSES_PLAN_SCHEDULE_SCHEDULEFILE_H

#include "passes/plan/schedule/ActionTable.h"

namespace pcc::plan {

/// Parses the CSV form of PyTorch's pipeline schedules: one line per position,
/// actions separated by commas. It is the inverse of `printCsv`.
///  - Empty fields (idle slots) and empty lines are skipped.
///  - A fused `(0F1;3B0)OVERLAP_F_B` becomes its actions, one after another.
///  - Sends and receives are dropped, because messages follow from the
///    transfers of the model.
///  - A stage belongs to the first line that mentions it.
/// The counts of stages and microbatches follow from the largest numbers in the
/// text. Whether the table is a valid schedule is up to `checkSchedule`.
ActionTableOrError parseCsv(std::string_view text);

/// Sizes that a schedule file must have.
struct ScheduleShape {
  int numPositions = 1;
  /// Stages per position, and microbatches. 0 accepts the number that the file
  /// has.
  int virtualStages = 0;
  int numMicrobatches = 0;
  /// Whether the schedule must have a backward pass (B, or I and W). If not, it
  /// must consist of F alone.
  bool trains = true;
};

/// Parses the file of `--schedule FILE.csv` and checks it against `shape` and
/// with `checkSchedule`.
///
/// The table has the F, B, I and W of the file, each line on its own position.
/// All other actions are dropped, because pcc derives them: sends and receives
/// from the transfers of the model, UNSHARD and RESHARD from the values that
/// all microbatches of a stage share, REDUCE_GRAD from the shardings of
/// gradients, and U from the optimizer. A stage has one form of backward pass:
/// if it has I and W in some microbatches, each B of another microbatch becomes
/// I directly followed by W.
///
/// An error names line and column, the action there, and the expectation:
///
///     line 2, column 5: 1F8 is of microbatch 8, but there are 8 (0 to 7)
ActionTableOrError readSchedule(std::string_view text,
                                const ScheduleShape &shape);

/// Returns whether a stage has a backward pass: some B or I.
bool hasBackward(const ActionTable &table, int stage);

/// Returns whether the backward pass of a stage is divided into I and W: the
/// stage has some I.
bool splitsBackward(const ActionTable &table, int stage);

} // namespace pcc::plan

#endif // PCC_PASSES_PLAN_SCHEDULE_SCHEDULEFILE_H
