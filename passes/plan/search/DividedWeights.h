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

/// List of the bytes of memory that ranks save if one weight is divided among
/// them. Entry p of the list is the number of bytes that one rank of pipeline
/// position p saves. A pipeline position is a group of ranks that run the same
/// pipeline stages.
///
/// For example, the 4 ranks of a pipeline position hold equal copies of a
/// weight of 800 bytes. If the weight is divided, each rank holds 200 bytes.
/// The entry of this position is 600. A rank then has to receive the missing
/// 600 bytes from the other ranks each time it uses the weight.
using Savings = std::vector<int64_t>;

/// Chooses weights that are divided among ranks in place of replicated, so that
/// each rank saves enough memory. Returns their ascending indices.
/// weights[i][p] is the number of bytes that a rank of pipeline position p
/// saves if weight i is divided. needs[p] is the number of bytes that this rank
/// must save. If all weights together save fewer bytes, the result has all
/// weights that save bytes on position p. The function is a greedy heuristic
/// (minimum knapsack problem, Csirik et al. 1991). For one position, the
/// weights save at most twice as many bytes as the best choice. For a need of
/// 10 and savings of 8, 8, 4 and 2, the choice is 8 and 2.
std::vector<size_t> chooseDividedWeights(const std::vector<Savings> &weights,
                                         const std::vector<int64_t> &needs);

} // namespace pcc::plan

#endif // PCC_PASSES_PLAN_SEARCH_DIVIDEDWEIGHTS_H
