//===- DividedWeights.h - which weights make room when memory is short ----===//

#ifndef PCC_PASSES_PLAN_SEARCH_DIVIDEDWEIGHTS_H
#define PCC_PASSES_PLAN_SEARCH_DIVIDEDWEIGHTS_H

#include <cstddef>
#include <cstdint>
#include <vector>

namespace pcc::plan {

/// Bytes that each position would save by storing one weight divided: as many
/// as a rank then receives to gather it.
using Savings = std::vector<int64_t>;

/// Chooses weights such that every position p saves at least needs[p] in sum
/// (or all that can be saved, if that is less), and few bytes more: with one
/// position at most twice the fewest (Csirik et al., Heuristics for the 0-1
/// min-knapsack problem, 1991). Position after position; then whatever is not
/// needed is put back. Returns ascending indices.
///
///   needs 10 of weights 8 8 4 2:   8, then 2
std::vector<size_t> chooseDividedWeights(const std::vector<Savings> &weights,
                                         const std::vector<int64_t> &needs);

} // namespace pcc::plan

#endif // PCC_PASSES_PLAN_SEARCH_DIVIDEDWEIGHTS_H
