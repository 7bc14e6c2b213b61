//===- PlanEntries.h - what a step communicates, dearest first ------------===//

#ifndef PCC_PASSES_EXPLAIN_PLANENTRIES_H
#define PCC_PASSES_EXPLAIN_PLANENTRIES_H

#include "passes/explain/Explanation.h"

namespace pcc::explain {

/// Communication of one step, as `pcc explain` lists it: a group of equal
/// collectives, or a cut between two pipeline stages. The numbers are those of
/// one rank. For collectives, this is a rank that calls them most often.
struct PlanEntry {
  /// Mesh axes over which the ranks communicate, joined by "+", such as
  /// "dp+tp"; "pp" for a cut between stages.
  std::string axes;
  /// Bytes that the rank receives in one step, and predicted seconds. For a
  /// cut, each number is the larger one of those for the forward and for the
  /// backward direction.
  double bytes = 0, seconds = 0;
  /// `text` describes the communication, such as "16 x all_reduce of matmul
  /// '/fc1/MatMul' and 3 alike". `remark` names the best alternative, such as
  /// "next best +32.0 KiB", or the bytes of a cut in both directions.
  std::string text = {}, remark = {};
};

/// Returns all entries of a plan, sorted by descending predicted seconds.
std::vector<PlanEntry> entriesOf(const Explanation &explanation);

/// Returns the bytes and the predicted seconds of all communication over the
/// mesh axes `axes` in one step, for one rank. Chooses a rank of the pipeline
/// position (ranks that run the same stages) that spends the most seconds.
PlanEntry totalOf(const Explanation &explanation, const std::string &axes);

} // namespace pcc::explain

#endif // PCC_PASSES_EXPLAIN_PLANENTRIES_H
