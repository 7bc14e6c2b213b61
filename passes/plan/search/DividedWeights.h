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

/// For each pipeline position (rank of the pipeline): bytes that a rank saves
/// if one weight is stored divided among ranks. To use the weight, the rank
/// gathers it and receives as many bytes as it saves.
using Savings = std::vector<int64_t>;

/// Chooses the weights that are stored divided among ranks. Returns ascending
/// indices into `weights`. weights[i][p] is the number of bytes that a rank at
/// pipeline position p saves if weight i is divided. At each position p, the
/// chosen weights save at least needs[p] bytes, and little more. If all weights
/// together save fewer bytes at p, every weight that saves bytes there is
/// chosen.
///
/// With one position, the chosen weights save at most twice the fewest possible
/// bytes (greedy heuristic for the minimum knapsack problem; Csirik et al.
/// 1991). Several positions are processed one after another. At the end,
/// weights that no position needs are removed.
///
///   need of 10 bytes, weights save 8 8 4 2:   chooses 8, then 2
std::vector<size_t> chooseDividedWeights(const std::vector<Savings> &weights,
                                         const std::vector<int64_t> &needs);

} // namespace pcc::plan

#endif // PCC_PASSES_PLAN_SEARCH_DIVIDEDWEIGHTS_H
