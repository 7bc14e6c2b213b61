//===- ScheduleCheck.h - what every action table must satisfy -------------===//

#ifndef PCC_PASSES_PLAN_SCHEDULE_SCHEDULECHECK_H
#define PCC_PASSES_PLAN_SCHEDULE_SCHEDULECHECK_H

#include "passes/plan/schedule/ActionTable.h"

namespace pcc::plan {

/// All that is wrong with a table (at most a score of claims); empty if it is
/// sound:
///  - every position only has actions of its own stages;
///  - every stage and microbatch has exactly one F and, in a table that trains,
///    either one B or one I and one W; a table without any backward is for
///    inference;
///  - F comes before B and I, I before W;
///  - no position waits forever for another (see `simulate`);
///  - no more forwards are alive than the bound that the schedule declares, if
///    `inFlightBound` has an element per position;
///  - UNSHARD comes before, RESHARD after the uses of a stage; REDUCE_GRAD
///    after its last gradient; its update, at most one, after everything.
std::vector<std::string>
checkSchedule(const ActionTable &table,
              const std::vector<int> &inFlightBound = {});

} // namespace pcc::plan

#endif // PCC_PASSES_PLAN_SCHEDULE_SCHEDULECHECK_H
