//===- PlanEntries.h - what a step communicates, dearest first ------------===//

#ifndef PCC_PASSES_EXPLAIN_PLANENTRIES_H
#define PCC_PASSES_EXPLAIN_PLANENTRIES_H

#include "passes/explain/Explanation.h"

namespace pcc::explain {

/// A group of equal collectives, or a cut between two stages, with its price in
/// one step on a rank that pays the most for it.
struct PlanEntry {
  /// Axes over which it communicates, joined by "+".
  std::string axes;
  /// Bytes that the rank receives, and predicted seconds.
  double bytes = 0, seconds = 0;
  /// Description, and a remark about other choices or directions.
  std::string text = {}, remark = {};
};

/// Returns all entries of a plan, the dearest first.
std::vector<PlanEntry> entriesOf(const Explanation &explanation);

/// Returns the bytes and seconds of a step over `axes`, on a rank of the
/// position that spends the most time.
PlanEntry totalOf(const Explanation &explanation, const std::string &axes);

} // namespace pcc::explain

#endif // PCC_PASSES_EXPLAIN_PLANENTRIES_H
