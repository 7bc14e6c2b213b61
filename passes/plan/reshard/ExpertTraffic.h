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

/// Sizes of a mixture-of-experts layer whose tokens and experts are divided
/// among `ranks` ranks. Every rank has ceil(experts / ranks) experts, except
/// that the last ranks may have fewer.
struct ExpertTraffic {
  int64_t ranks = 1;
  int64_t experts = 1;
  int64_t chosen = 1;    ///< most experts that a token chooses
  double gateBytes = 4;  ///< of one gate value: one token, one expert
  double tokenBytes = 0; ///< of the output of the experts for one token
};

/// Returns the probability that a token chooses no expert of one given rank, if
/// all sets of `chosen` experts are equally likely.
double chanceOfNone(const ExpertTraffic &traffic);

/// Returns whether the gates (the weights of the experts for a token) should be
/// computed on the rank where a token lives. If true, the token is then sent
/// only to the ranks of the experts that it chose. If false, all tokens are
/// gathered on all ranks, and each rank computes the gates of its own experts.
///
/// Routing has a cost. For each token, every other rank receives the gates of
/// its own experts and one byte, which states whether the token chose any of
/// them. This function returns true if the cost is less than each of two
/// savings:
///
///  - On the way back, the results for a token come from at most `chosen` ranks
///    rather than from all ranks.
///  - On the way to the experts, a token is not sent to a rank of which it
///    chose no expert. This saving is an average, since all tokens may choose
///    experts of the same rank.
bool paysToRouteFirst(const ExpertTraffic &traffic);

} // namespace pcc::plan

#endif // PCC_PASSES_PLAN_RESHARD_EXPERTTRAFFIC_H
