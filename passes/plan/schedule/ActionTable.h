//===- RequestedSchedule.h - the actions of all positions -----------------===//

#ifndef PCC_PASSES_PLAN_SCHEDULE_ACTIONTABLE_H
#define PCC_PASSES_PLAN_SCHEDULE_ACTIONTABLE_H

#include "runtime/timeline/Action.h"

#include <vector>

namespace pcc::plan {

using runtime::Action;
using runtime::ActionKind;
using runtime::isCompute;
using runtime::makesInputGradient;
using runtime::parseAction;
using runtime::parseKind;
using runtime::print;
using runtime::printKind;

/// What every position does in one step, in order. A position is one rank of
/// the pipeline: the stages it runs.
struct ActionTable {
  int numStages = 0;
  int numMicrobatches = 0;
  std::vector<int> positionOfStage;
  std::vector<std::vector<Action>> positions;

  int numPositions() const { return static_cast<int>(positions.size()); }
  /// Stages of a position, ascending.
  std::vector<int> stagesOf(int position) const;
  friend bool operator==(const ActionTable &, const ActionTable &) = default;
};

/// A table, or the reason why there is none.
struct ActionTableOrError {
  ActionTable table;
  std::string error;
};

/// The form of PyTorch's schedule files: a line per position, actions joined
/// by commas. ScheduleFile.h reads it.
std::string printCsv(const ActionTable &table);

} // namespace pcc::plan

#endif // PCC_PASSES_PLAN_SCHEDULE_ACTIONTABLE_H
