//===- ScheduleCheck.h - verifier of action tables ------------------------===//

#ifndef PCC_PASSES_PLAN_SCHEDULE_SCHEDULECHECK_H
#define PCC_PASSES_PLAN_SCHEDULE_SCHEDULECHECK_H

#include "passes/plan/schedule/ActionTable.h"

namespace pcc::plan {

/// Checks a table against the rules of a pipeline schedule. Returns one message
/// per violation, at most 20; an empty list if the table is valid. F is a
/// forward action, B a backward action, I an input gradient, W a weight
/// gradient. The rules:
///  - Every position (rank of the pipeline) has only actions of its own stages.
///  - Every stage has exactly one F per microbatch. If the table has a backward
///    pass at all, the stage also has either one B, or one I and one W per
///    microbatch.
///  - On a position, F comes before B and I of its stage and microbatch, and I
///    before W.
///  - No position waits forever for another position (see `simulate`).
///  - On position p, at most inFlightBound[p] forwards are in flight (F has
///    run, and B or W has not). Positions beyond the end of the list are not
///    checked.
///  - UNSHARD (all-gather of weights) of a stage comes before the actions that
///    use the weights, and RESHARD (which frees them) after these actions. A
///    stage may be unsharded again later.
///  - REDUCE_GRAD (reduction of gradients) comes after the last gradient of its
///    stage.
///  - The parts of an update come after all other actions of the stage.
std::vector<std::string>
checkSchedule(const ActionTable &table,
              const std::vector<int> &inFlightBound = {});

} // namespace pcc::plan

#endif // PCC_PASSES_PLAN_SCHEDULE_SCHEDULECHECK_H
