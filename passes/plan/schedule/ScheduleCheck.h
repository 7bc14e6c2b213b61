//===- ScheduleCheck.h - verifier of action tables ------------------------===//

#ifndef PCC_PASSES_PLAN_SCHEDULE_SCHEDULECHECK_H
#define PCC_PASSES_PLAN_SCHEDULE_SCHEDULECHECK_H

#include "passes/plan/schedule/ActionTable.h"

namespace pcc::plan {

/// Checks a table against the rules of a pipeline schedule. Returns a message
/// per violation, at most 20; an empty list if the table is valid:
///  - every position has only actions of its own stages;
///  - every stage and microbatch has exactly one F. If the table has a backward
///    pass at all, each has either one B, or one I and one W;
///  - on its position, F comes before B and I, and I before W;
///  - no position waits forever for another one (see `simulate`);
///  - no position has more forwards alive than `inFlightBound` declares for it;
///    positions beyond the end of the list are not checked;
///  - UNSHARD of a stage comes before its uses and RESHARD after them (a stage
///    may be unsharded again later); REDUCE_GRAD comes after its last gradient,
///    and the parts of its update come after everything else.
std::vector<std::string>
checkSchedule(const ActionTable &table,
              const std::vector<int> &inFlightBound = {});

} // namespace pcc::plan

#endif // PCC_PASSES_PLAN_SCHEDULE_SCHEDULECHECK_H
