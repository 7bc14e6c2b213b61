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

/// Returns the probability that one token chooses no expert of one rank. The
/// rank has ceil(experts / ranks) experts. The token chooses `chosen` different
/// experts. The function assumes that each set of `chosen` experts is equally
/// likely.
///
/// Example: there are 8 experts on 4 ranks, so each rank has 2 experts. A token
/// chooses 1 expert. The result is 6/8, because 6 of the 8 experts are on other
/// ranks.
double chanceOfNone(const ExpertTraffic &traffic);

/// Returns whether tokens should be routed to the experts rather than gathered.
/// With routing, a token goes only to the ranks of its chosen experts, and only
/// these ranks return a result. With gathering, each token goes to all ranks,
/// and all ranks return a result. Routing also sends to each rank one byte and
/// the gates (weights) of the experts of this rank. The result is true if these
/// bytes are fewer than the token bytes that routing saves, and fewer than the
/// result bytes that routing saves if all chosen experts are on different other
/// ranks. The result is false for a single rank or a single expert.
bool paysToRouteFirst(const ExpertTraffic &traffic);

} // namespace pcc::plan

#endif // PCC_PASSES_PLAN_RESHARD_EXPERTTRAFFIC_H
