//===- ExpertTraffic.h - token routing vs. gathering for experts ----------===//
//
// Decides how the tokens of a mixture-of-experts layer reach the experts: each
// token is sent to the ranks of its experts (all-to-all, as in GShard, Lepikhin
// et al. 2020), or all tokens are gathered on every rank.
//
//===----------------------------------------------------------------------===//

#ifndef PCC_PASSES_PLAN_RESHARD_EXPERTTRAFFIC_H
#define PCC_PASSES_PLAN_RESHARD_EXPERTTRAFFIC_H

#include <cstdint>

namespace pcc::plan {

/// Sizes of a mixture-of-experts layer. `ranks` is the number of ranks that run
/// the layer. Each rank has a part of the tokens and a part of the experts. A
/// rank has ceil(experts / ranks) experts, but the last ranks may have fewer.
/// For example, if there are 5 experts and 4 ranks, the ranks have 2, 2, 1 and
/// 0 experts.
struct ExpertTraffic {
  int64_t ranks = 1;
  int64_t experts = 1;
  int64_t chosen = 1;    ///< most experts that a token chooses
  double gateBytes = 4;  ///< of one gate value: one token, one expert
  double tokenBytes = 0; ///< of the output of the experts for one token
};

/// Returns the probability that one token chooses no expert of one rank, if all
/// sets of `chosen` experts are equally likely. Example: 8 experts on 4 ranks
/// and 1 chosen expert give 6/8.
double chanceOfNone(const ExpertTraffic &traffic);

/// Returns whether to route tokens only to the ranks of their chosen experts,
/// rather than gather all tokens on all ranks. Routing adds gate values. It
/// must save more token bytes than the gate values have, and it must also save
/// more result bytes than the gate values have. Returns false for a single rank
/// or a single expert.
bool paysToRouteFirst(const ExpertTraffic &traffic);

} // namespace pcc::plan

#endif // PCC_PASSES_PLAN_RESHARD_EXPERTTRAFFIC_H
