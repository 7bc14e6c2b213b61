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
/// among `ranks`. Every rank has ceil(experts / ranks) experts, the last one
/// maybe fewer.
struct ExpertTraffic {
  int64_t ranks = 1;
  int64_t experts = 1;
  int64_t chosen = 1;    ///< most experts that a token chooses
  double gateBytes = 4;  ///< of one gate value: one token, one expert
  double tokenBytes = 0; ///< of the output of the experts for one token
};

/// Returns the probability that a token chooses none of the experts of a given
/// rank, if every choice of `chosen` different experts is equally likely.
double chanceOfNone(const ExpertTraffic &traffic);

/// Returns whether the gates should be computed where tokens live, so that a
/// token travels only to the ranks of the experts that it chose. Otherwise all
/// tokens are gathered, and each rank computes the gates of its own experts.
///
/// Routing first sends, per token and other rank, the gates of the experts of
/// that rank and one byte that says whether the token wants any of them. This
/// pays if it is less than each of two savings:
///
/// - on the way back, for certain: the results for a token come from at most
///   `chosen` ranks rather than from all ranks;
/// - on the way out, on average only, since all tokens may choose experts of
///   one rank: a token is not sent to a rank of which it chose no expert.
bool paysToRouteFirst(const ExpertTraffic &traffic);

} // namespace pcc::plan

#endif // PCC_PASSES_PLAN_RESHARD_EXPERTTRAFFIC_H
