//===- ExpertTraffic.h - what tokens on their way to experts cost ---------===//

#ifndef PCC_PASSES_PLAN_RESHARD_EXPERTTRAFFIC_H
#define PCC_PASSES_PLAN_RESHARD_EXPERTTRAFFIC_H

#include <cstdint>

namespace pcc::plan {

/// Tokens that live on some ranks and are computed by the experts that they
/// choose, of which each rank has as many.
struct ExpertTraffic {
  int64_t ranks = 1;
  int64_t experts = 1;
  int64_t chosen = 1;    ///< experts of a token, at most
  double gateBytes = 4;  ///< of the gate of one token for one expert
  double tokenBytes = 0; ///< of what experts make of a token
};

/// How likely a token wants none of the experts of a given rank, where each
/// choice of different experts is as likely as any other.
double chanceOfNone(const ExpertTraffic &traffic);

/// Whether gates are to be made where tokens live, so that a token travels to
/// the ranks whose experts it chose and to no others. Else all tokens are
/// gathered, and each rank makes the gates of its experts from them.
///
/// The gates have to travel then: (ranks - 1) · experts / ranks of them per
/// token of a rank, and a byte per token and rank that says who is wanted. That
/// pays where it is less than
///
/// - what is saved for sure: a token comes back from no more ranks than it has
///   chosen experts, while all tokens may go to one rank;
/// - what is likely to be saved on the way out.
bool paysToRouteFirst(const ExpertTraffic &traffic);

} // namespace pcc::plan

#endif // PCC_PASSES_PLAN_RESHARD_EXPERTTRAFFIC_H
