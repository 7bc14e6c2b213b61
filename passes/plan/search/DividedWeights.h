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

/// Bytes saved on one rank if one weight is divided among ranks, for each
/// pipeline rank (ranks with one pipeline rank run the same stages). Example: 4
/// ranks hold equal copies of a weight of 800 bytes. If they divide it, each
/// rank saves 600 bytes.
using Savings = std::vector<int64_t>;

/// Returns the ascending indices of weights to divide among ranks, as in ZeRO
/// (greedy heuristic, Csirik et al. 1991). Each rank with pipeline rank p must
/// save needs[p] bytes; weight i saves weights[i][p]. If all weights save too
/// little, returns all that save bytes on pipeline rank p.
std::vector<size_t> chooseDividedWeights(const std::vector<Savings> &weights,
                                         const std::vector<int64_t> &needs);

} // namespace pcc::plan

#endif // PCC_PASSES_PLAN_SEARCH_DIVIDEDWEIGHTS_H
