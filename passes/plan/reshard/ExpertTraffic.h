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

/// Chooses one of two ways to bring the tokens of a mixture-of-experts layer to
/// the experts. Returns true for routing and false for gathering. Each rank has
/// a part of the tokens and a part of the experts. A token chooses at most
/// `traffic.chosen` experts. A gate is the weight of one expert for one token.
///
///  - Routing: the rank that has a token computes all gates of the token. This
///    rank sends the token only to the ranks of the chosen experts. Only these
///    ranks send a result back.
///  - Gathering: every rank receives all tokens. Each rank computes the gates
///    of the experts that it has. Every rank sends a result back.
///
/// The function counts bytes between the rank of one token and one other rank,
/// which is called r. A token and a result have `traffic.tokenBytes` bytes
/// each. The function computes three numbers:
///
///  - Bytes for gates. Only routing needs them. Rank r receives one gate for
///    each expert that it has. Rank r also receives one byte, which says
///    whether rank r receives the token.
///  - Bytes that routing saves for tokens. With routing, rank r does not
///    receive the token if rank r has no chosen expert. `chanceOfNone` returns
///    the probability of this case. The number is this probability times
///    `traffic.tokenBytes`.
///  - Bytes that routing saves for results. With routing, rank r sends no
///    result if rank r has no chosen expert. The function assumes the worst
///    case: all chosen experts are on different ranks, and none of them is on
///    the rank of the token. The number is the average over all ranks r.
///
/// Returns true if the bytes for gates are fewer than the bytes saved for
/// tokens, and also fewer than the bytes saved for results. Returns false if
/// there is only one rank or only one expert.
///
/// Example: there are 5 ranks with one expert each. A token chooses 1 expert. A
/// gate has 4 bytes. A token and a result have 1000 bytes each.
///
///     for gates            1 * 4 + 1  = 5
///     saved for tokens     4/5 * 1000 = 800   4 of 5 experts are not on rank r
///     saved for results    3/4 * 1000 = 750   3 of 4 ranks r send no result
///     result               true, because 5 < 800 and 5 < 750
bool paysToRouteFirst(const ExpertTraffic &traffic);

} // namespace pcc::plan

#endif // PCC_PASSES_PLAN_RESHARD_EXPERTTRAFFIC_H
