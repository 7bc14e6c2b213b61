//===- ScheduleCheck.h - verifier of action tables ------------------------===//

#ifndef PCC_PASSES_PLAN_SCHEDULE_SCHEDULECHECK_H
#define PCC_PASSES_PLAN_SCHEDULE_SCHEDULECHECK_H

#include "passes/plan/schedule/ActionTable.h"

namespace pcc::plan {

/// Checks an action table against the rules of a pipeline schedule. Returns one
/// message per violation, at most 20. F is a forward action, B a backward
/// action, I an input gradient, W a weight gradient. The rules:
///  - Every pipeline position has only actions of its own stages.
///  - Every stage has one F per microbatch.
///  - If the table has a backward pass, every stage has one B, or one I and one
///    W, per microbatch.
///  - On a position, F comes before B and I of its stage and microbatch, and I
///    before W.
///  - No position waits forever (see `simulate`).
///  - On position p, at most inFlightBound[p] forwards are between F and B or
///    W. Positions beyond the end of the list are not checked.
///  - UNSHARD (all-gather of weights) comes before the actions that use the
///    weights, and RESHARD (release of weights) after them. A stage may be
///    unsharded again.
///  - REDUCE_GRAD (reduction of gradients) comes after the last gradient of its
///    stage.
///  - The parts of an update come after all other actions of the stage.
std::vector<std::string>
checkSchedule(const ActionTable &table,
              const std::vector<int> &inFlightBound = {});

} // namespace pcc::plan

#endif // PCC_PASSES_PLAN_SCHEDULE_SCHEDULECHECK_H
