//===- ScheduleCheck.h - verifier of action tables ------------------------===//

#ifndef PCC_PASSES_PLAN_SCHEDULE_SCHEDULECHECK_H
#define PCC_PASSES_PLAN_SCHEDULE_SCHEDULECHECK_H

#include "passes/plan/schedule/ActionTable.h"

namespace pcc::plan {

/// Checks an action table against the rules of a pipeline schedule. Returns one
/// text per violation, but at most 20 texts.
///
/// F is a forward action. B is a backward action. A schedule can replace B by I
/// (input gradient) and W (weight gradient). The rules are:
///  - Each pipeline rank has only actions of its own stages.
///  - Each stage has one F per microbatch.
///  - If the table has a backward pass, each stage has one B per microbatch, or
///    one I and one W per microbatch.
///  - F comes before B and before I of the same stage and microbatch. I comes
///    before W of the same stage and microbatch.
///  - No rank waits forever. The function `simulate` tests this.
///  - A forward is the forward pass of one stage for one microbatch. A forward
///    is in flight from the start of its F to the end of its B or its W. Rank p
///    has at most inFlightBound[p] forwards in flight at the same time. If the
///    list `inFlightBound` has no element for a rank, the rule does not apply to
///    this rank.
///  - UNSHARD gathers the weights of a stage with an all-gather. RESHARD
///    releases the gathered weights. After a RESHARD, the weights are missing
///    until the next UNSHARD of the stage. No F, B, I or W of the stage comes
///    while the weights are missing. An UNSHARD comes before all F, B, I and W
///    of the stage, or while the weights are missing. For example, the order
///    UNSHARD F RESHARD UNSHARD B is valid.
///  - REDUCE_GRAD adds up the gradients of a stage over data-parallel replicas.
///    It comes after all B, I and W of its stage.
///  - U is the optimizer update of a stage. It can consist of several actions,
///    U0, U1, and so on. All actions U of a stage come after all other actions
///    of the stage.
std::vector<std::string>
checkSchedule(const ActionTable &table,
              const std::vector<int> &inFlightBound = {});

} // namespace pcc::plan

#endif // PCC_PASSES_PLAN_SCHEDULE_SCHEDULECHECK_H
