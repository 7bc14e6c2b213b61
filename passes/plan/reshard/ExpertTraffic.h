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

/// Decides how the tokens of a mixture-of-experts layer reach the experts. The
/// experts and the tokens are divided over the ranks. A gate is the weight of
/// one expert for one token. There are two ways:
///
///  - Routing: the rank that has a token computes all gates of the token. The
///    rank sends the token only to the ranks of the chosen experts.
///  - Gathering: every rank receives all tokens. A rank computes only the gates
///    of its own experts.
///
/// A rank that receives a token computes a result with its experts. The rank
/// sends this result back to the rank that has the token.
///
/// Returns true for routing and false for gathering. The function compares
/// three numbers of bytes. Each number is for one token and one rank r that
/// does not have the token:
///
///  - `gates`: the bytes that only routing sends to rank r. They are one gate
///    for each expert on rank r, and one byte that says whether rank r receives
///    the token.
///  - `saving1`: the bytes that routing saves for results, on average over all
///    ranks r. With gathering, every rank r sends a result back. With routing,
///    only a rank with a chosen expert sends a result back. A token chooses at
///    most `traffic.chosen` experts, so at most this many ranks send a result
///    back.
///  - `saving2`: the bytes that routing saves for tokens, on average. With
///    gathering, rank r always receives the token. With routing, rank r
///    receives the token only if a chosen expert is on rank r.
///
/// Returns true if `gates` is less than `saving1` and less than `saving2`.
/// Returns false if there is only one rank or one expert.
///
/// Example: there are 5 ranks with one expert each. A token chooses 1 expert. A
/// gate has 4 bytes. A token and a result have 1000 bytes each.
///
///     gates      4 + 1 = 5
///     saving1    1000 - 1000 / 4 = 750    1 of the 4 ranks r sends a result
///     saving2    1000 * 4 / 5 = 800       4 of 5 tokens do not choose rank r
///     result     true
bool paysToRouteFirst(const ExpertTraffic &traffic);

} // namespace pcc::plan

#endif // PCC_PASSES_PLAN_RESHARD_EXPERTTRAFFIC_H
