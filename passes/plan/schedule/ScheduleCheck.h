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
///  - Rank p has at most inFlightBound[p] forwards in flight at once. A forward
///    is the forward pass of one stage for one microbatch. It is in flight from
///    its F until its B or its W ends. If the list `inFlightBound` has fewer
///    elements than there are ranks, this rule ignores the ranks that have no
///    element.
///  - UNSHARD gathers the weights of a stage with an all-gather. It comes
///    before all F, B, I and W of its stage, or after a RESHARD of its stage.
///  - RESHARD releases these weights. No F, B, I or W of its stage comes later,
///    unless another UNSHARD gathers the weights again.
///  - REDUCE_GRAD adds up the gradients of a stage over data-parallel replicas.
///    It comes after all B, I and W of its stage.
///  - U is the optimizer update of a stage. It can consist of several actions,
///    U0, U1, and so on. These come after all other actions of the stage.
std::vector<std::string>
checkSchedule(const ActionTable &table,
              const std::vector<int> &inFlightBound = {});

} // namespace pcc::plan

#endif // PCC_PASSES_PLAN_SCHEDULE_SCHEDULECHECK_H
