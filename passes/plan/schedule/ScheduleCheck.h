//===- ScheduleCheck.h - verifier of action tables ------------------------===//

#ifndef PCC_PASSES_PLAN_SCHEDULE_SCHEDULECHECK_H
#define PCC_PASSES_PLAN_SCHEDULE_SCHEDULECHECK_H

#include "passes/plan/schedule/ActionTable.h"

namespace pcc::plan {

/// Violation of a rule by an action table.
struct ScheduleClaim {
  std::string text;
  /// Pipeline position whose row breaks the rule; -1 if it is the whole table.
  int position = -1;
};

/// Returns one claim per violation of these rules, at most 20. B (backward) may
/// be split into I and W (input and weight gradient):
///  - A rank runs only its own stages, and no rank waits forever.
///  - A stage has one F (forward), and then one B if any, per microbatch.
///  - Rank p has at most inFlightBound[p] forwards whose B or W has not ended.
///  - UNSHARD (gathers weights) comes before all F and B of its stage, or after
///    RESHARD (frees weights). No F or B follows RESHARD before UNSHARD.
///  - REDUCE_GRAD comes after all B of its stage, and U (update) comes last.
std::vector<ScheduleClaim>
checkSchedule(const ActionTable &table,
              const std::vector<int> &inFlightBound = {});

} // namespace pcc::plan

#endif // PCC_PASSES_PLAN_SCHEDULE_SCHEDULECHECK_H
