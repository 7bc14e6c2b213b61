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

/// Bytes that each rank saves if one weight is divided among ranks. Element p
/// of the vector is for the ranks with index p along the pipeline axis, which
/// run the same stages. Example: 4 ranks hold equal copies of a weight of 800
/// bytes. If they divide it, each rank saves 600 bytes.
using Savings = std::vector<int64_t>;

/// Returns the indices of weights to divide among ranks, as in ZeRO, in
/// ascending order (greedy heuristic, Csirik et al. 1991). weights[i][p] is the
/// number of bytes that weight i saves on each rank with index p along the
/// pipeline axis. The chosen weights must together save needs[p] bytes on each
/// of these ranks. If all weights together save less than needs[p], the result
/// contains all weights that save bytes on these ranks.
std::vector<size_t> chooseDividedWeights(const std::vector<Savings> &weights,
                                         const std::vector<int64_t> &needs);

} // namespace pcc::plan

#endif // PCC_PASSES_PLAN_SEARCH_DIVIDEDWEIGHTS_H
