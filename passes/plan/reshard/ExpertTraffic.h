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

/// Sizes of a mixture-of-experts layer. `ranks` ranks divide its tokens and
/// experts. Each rank has ceil(experts / ranks) experts; the last ranks may
/// have fewer.
struct ExpertTraffic {
  int64_t ranks = 1;
  int64_t experts = 1;
  int64_t chosen = 1;    ///< most experts that a token chooses
  double gateBytes = 4;  ///< of one gate value: one token, one expert
  double tokenBytes = 0; ///< of the output of the experts for one token
};

/// Returns the probability that a token chooses no expert of one given rank.
/// All sets of `chosen` experts are equally likely.
double chanceOfNone(const ExpertTraffic &traffic);

/// Returns whether the rank of a token should compute the gates of the token
/// (the weights of its experts). The token is then sent only to the ranks of
/// its chosen experts. Otherwise, every rank gathers all tokens and computes
/// the gates of its own experts.
///
/// Gates that the token's rank computes must be sent. For each token and each
/// other rank, these are the gates of the experts of that rank, and one byte
/// more. They must be fewer bytes than each of two savings:
///
///  - The results of a token come back from `chosen` ranks at most, not from
///    all.
///  - A token is not sent to a rank if it chose no expert of this rank. This
///    saving is an average.
bool paysToRouteFirst(const ExpertTraffic &traffic);

} // namespace pcc::plan

#endif // PCC_PASSES_PLAN_RESHARD_EXPERTTRAFFIC_H
