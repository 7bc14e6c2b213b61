//===- AllShardings.h - Every sharding, and what a reshard must cost ------===//
#ifndef PCC_TEST_PASSES_PLAN_RESHARD_ALLSHARDINGS_H
#define PCC_TEST_PASSES_PLAN_RESHARD_ALLSHARDINGS_H

#include "passes/plan/reshard/Reshard.h"

#include <vector>

namespace pcc::plan {

/// Returns every way to assign each of `digits`, in any order, to a dim, to no
/// dim or, if `withPartial`, to the list of partial sums; each placement once.
std::vector<dist::Sharding> allShardings(const dist::SubAxes &digits,
                                         const dist::Shape &shape,
                                         bool withPartial);

/// Returns the received bytes of this plan: reduce everything, gather
/// everything, then slice.
int64_t gatherThenSlice(const dist::Sharding &from, const dist::Shape &shape,
                        int64_t elementBytes, const dist::Mesh &mesh);

/// Returns the largest number of elements, over all ranks, that belong to the
/// shard of a rank under `to` but not to its shard under `from`. Without a
/// reduction, no plan receives fewer elements. Counts rank by rank. Neither
/// sharding may have partial axes.
int64_t movementLowerBound(const dist::Sharding &from, const dist::Sharding &to,
                           const dist::Shape &shape, const dist::Mesh &mesh);

/// Returns a lower bound on the elements that the rank with the most receives,
/// if `from` is partial over n ranks and `to` is not.
///
/// No rank has a whole sum, so each receives at least the elements that it
/// wants. Before one rank has the whole sum of an element, n contributions have
/// been added, which takes n - 1 messages. Every other rank that wants the
/// element receives it after that. So all ranks together receive n - 2 +
/// (number of ranks that want it) per element.
int64_t reductionLowerBound(const dist::Sharding &from,
                            const dist::Sharding &to, const dist::Shape &shape,
                            const dist::Mesh &mesh);

/// Returns the fewest bytes that any plan of these steps receives: a movement
/// to another sharding with the same partials, a reduce_scatter over some of
/// `digits`, an all_reduce over the others, a movement to `to`. Tries all
/// plans. `all` are the shardings in between; volumes are those of Reshard.h.
int64_t cheapestReduction(const dist::Sharding &from, const dist::Sharding &to,
                          const std::vector<dist::Sharding> &all,
                          const dist::SubAxes &digits, const dist::Shape &shape,
                          int64_t elementBytes, const dist::Mesh &mesh);

} // namespace pcc::plan

#endif // PCC_TEST_PASSES_PLAN_RESHARD_ALLSHARDINGS_H
