//===- ActionTable.cpp - pipeline schedule as actions per pipeline rank ---===//

#include "passes/plan/schedule/ActionTable.h"

#include <cassert>

namespace pcc::plan {

std::vector<int> ActionTable::stagesOf(int position) const {
  assert(positionOfStage.size() >= size_t(numStages) &&
         "one position per stage");
  std::vector<int> stages;
  for (int stage = 0; stage < numStages; ++stage)
    if (positionOfStage[stage] == position)
      stages.push_back(stage);
  return stages;
}

std::string printCsv(const ActionTable &table) {
  std::string text;
  for (const std::vector<Action> &row : table.positions) {
    for (size_t i = 0; i < row.size(); ++i)
      text += (i ? "," : "") + print(row[i]);
    text += '\n';
  }
  return text;
}

} // namespace pcc::plan
