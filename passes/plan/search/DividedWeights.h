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

/// By pipeline position: bytes that a rank saves if one weight is stored
/// divided. Gathering the weight costs the rank as many received bytes.
using Savings = std::vector<int64_t>;

/// Chooses weights so that each position p saves at least needs[p] bytes (or
/// all that can be saved, if that is less), and little more. With one position,
/// the chosen weights save at most twice the fewest possible bytes (greedy
/// heuristic for the minimum knapsack problem; Csirik et al. 1991). Several
/// positions are covered one after another; finally, weights that no position
/// needs are removed. Returns ascending indices into `weights`, whose elements
/// have one entry per position.
///
///   needs 10 of weights 8 8 4 2:   8, then 2
std::vector<size_t> chooseDividedWeights(const std::vector<Savings> &weights,
                                         const std::vector<int64_t> &needs);

} // namespace pcc::plan

#endif // PCC_PASSES_PLAN_SEARCH_DIVIDEDWEIGHTS_H
