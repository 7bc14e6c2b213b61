//===- DividedWeights.h - choice of weights to shard when memory is short -===//
//
// Chooses which weights are stored divided among the ranks that would otherwise
// hold replicas, and gathered for use (ZeRO, Rajbhandari et al. 2020; FSDP).
//
//===----------------------------------------------------------------------===//

#ifndef PCC_PASSES_PLAN_SEARCH_DIVIDEDWEIGHTS_H
#define PCC_PASSES_PLAN_SEARCH_DIVIDEDWEIGHTS_H

#include <cstddef>
#include <cstdint>
#include <vector>

namespace pcc::plan {

/// Effect of dividing one weight among ranks that would hold equal copies: for
/// each pipeline position, the bytes of memory that one of its ranks saves. A
/// rank must then receive as many bytes for each use of the weight.
using Savings = std::vector<int64_t>;

/// Chooses weights to divide among the ranks that would hold equal copies, so
/// that each rank saves enough memory. Returns ascending indices into
/// `weights`.
///
///  - weights[i][p]: bytes that a rank of pipeline position p saves if weight i
///    is divided.
///  - needs[p]: bytes that a rank of position p must save. If even all weights
///    save less, all weights that save bytes are chosen.
///
/// A greedy heuristic (minimum knapsack problem, Csirik et al. 1991) avoids
/// large excess savings. With one position, it saves at most twice as much as
/// the best choice. For example, for a need of 10 bytes and weights that save
/// 8, 8, 4 and 2 bytes, it chooses 8 and 2.
std::vector<size_t> chooseDividedWeights(const std::vector<Savings> &weights,
                                         const std::vector<int64_t> &needs);

} // namespace pcc::plan

#endif // PCC_PASSES_PLAN_SEARCH_DIVIDEDWEIGHTS_H
