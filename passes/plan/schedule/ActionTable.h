//===- ActionTable.h - pipeline schedule as a list of actions per rank ----===//

#ifndef PCC_PASSES_PLAN_SCHEDULE_ACTIONTABLE_H
#define PCC_PASSES_PLAN_SCHEDULE_ACTIONTABLE_H

#include "runtime/timeline/Action.h"

#include <vector>

namespace pcc::plan {

// The planner uses the type Action of the runtime. An action is, for example,
// the forward pass of one stage for one microbatch. The planner also uses the
// functions of the runtime that convert an action to text and back. For
// example, the text 0F3 means the forward pass (F) of stage 0 for microbatch 3.
using runtime::Action;
using runtime::ActionKind;
using runtime::isCompute;
using runtime::makesInputGradient;
using runtime::parseAction;
using runtime::parseKind;
using runtime::print;
using runtime::printKind;

/// Pipeline schedule of one training step or inference. Each pipeline rank,
/// called a position, has a list of actions in the order of execution, such as
/// the forward pass of one stage for one microbatch. A position runs one or
/// more stages. If the mesh has other axes, such as tp, several ranks belong to
/// one position and run the same actions.
struct ActionTable {
  int numStages = 0;
  int numMicrobatches = 0;
  /// For each stage: the pipeline rank that runs it; -1 if none does.
  std::vector<int> positionOfStage;
  /// For each pipeline rank: its actions in the order of execution.
  std::vector<std::vector<Action>> positions;

  int numPositions() const { return static_cast<int>(positions.size()); }
  /// Returns the stages that a pipeline rank runs, ascending.
  std::vector<int> stagesOf(int position) const;
  friend bool operator==(const ActionTable &, const ActionTable &) = default;
};

/// Returns the table in the CSV format of PyTorch's pipeline schedules, one
/// line per pipeline rank, such as 0F0,0F1,0B0,0B1. The action 0F1 is the
/// forward pass (F) of stage 0 for microbatch 1. readSchedule() parses this
/// format.
std::string printCsv(const ActionTable &table);

} // namespace pcc::plan

#endif // PCC_PASSES_PLAN_SCHEDULE_ACTIONTABLE_H
