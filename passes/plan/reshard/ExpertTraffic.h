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
/// Returns true for routing and false for gathering. The function compares
/// three numbers of bytes. They are averages for one token and one rank r that
/// does not have the token:
///
///  - `gates`: with routing, the gates of the experts on rank r must be sent,
///    and one byte more.
///  - `saving1`: with gathering, all other ranks send a result of the token
///    back. With routing, at most `chosen` of these ranks send a result back.
///  - `saving2`: with routing, the token is not sent to rank r if no chosen
///    expert is on rank r.
///
/// Returns true if `gates` is less than `saving1` and less than `saving2`.
/// Returns false if there is only one rank or one expert.
///
/// Example: 5 ranks with one expert each, 1 chosen expert per token, 4 bytes
/// per gate, 1000 bytes per token and per result.
///
///     gates      1 gate * 4 + 1 = 5
///     saving1    1000 - 1000 * 1 / 4 = 750; 1 of 4 other ranks sends a result
///     saving2    1000 * 4 / 5 = 800; 4 of 5 times, rank r needs no token
///     result     true
bool paysToRouteFirst(const ExpertTraffic &traffic);

} // namespace pcc::plan

#endif // PCC_PASSES_PLAN_RESHARD_EXPERTTRAFFIC_H
