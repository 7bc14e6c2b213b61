//===- ScheduleFile.h - schedules that users write ------------------------===//

#ifndef PCC_PASSES_PLAN_SCHEDULE_SCHEDULEFILE_H
#define PCC_PASSES_PLAN_SCHEDULE_SCHEDULEFILE_H

#include "passes/plan/schedule/ActionTable.h"

namespace pcc::plan {

/// Reads the form of PyTorch's schedule files, the inverse of `printCsv`: a
/// line per position, actions separated by commas. Empty fields (idle slots)
/// and empty lines are skipped; a fused `(0F1;3B0)OVERLAP_F_B` becomes its
/// actions one after another; sends and receives are dropped, since messages
/// follow from the transfers of a model. A stage belongs to the line that
/// mentions it first; whether the table is sound is for `checkSchedule` to say.
ActionTableOrError parseCsv(std::string_view text);

/// What a schedule file must fit.
struct ScheduleShape {
  int numPositions = 1;
  /// Stages per position and microbatches; 0: as many as the file has.
  int virtualStages = 0;
  int numMicrobatches = 0;
  /// With B, or I and W; else with F alone.
  bool trains = true;
};

/// The table of `--schedule FILE.csv`: F, B, I and W as the file has them, on
/// the positions whose lines they are on, proven by `checkSchedule`. All else
/// is dropped, since pcc derives it: sends and receives from the transfers of
/// the model, UNSHARD and RESHARD from what the microbatches of a stage share,
/// REDUCE_GRAD from the shardings of gradients, U from the optimizer. A stage
/// has one form of backward pass: where it has I and W of some microbatches, B
/// of another one becomes I and W, one right after the other.
///
/// Errors name line and column, what stands there and what was expected:
///
///     line 2, column 5: 1F8 is of microbatch 8, but there are 8 (0 to 7)
ActionTableOrError readSchedule(std::string_view text,
                                const ScheduleShape &shape);

/// Whether a stage has a backward pass.
bool hasBackward(const ActionTable &table, int stage);
/// Whether the backward pass of a stage is I and W, not B.
bool splitsBackward(const ActionTable &table, int stage);

} // namespace pcc::plan

#endif // PCC_PASSES_PLAN_SCHEDULE_SCHEDULEFILE_H
