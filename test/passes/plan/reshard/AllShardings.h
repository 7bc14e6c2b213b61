//===- AllShardings.h - Every sharding, and what a reshard must cost ------===//
#ifndef PCC_TEST_PASSES_PLAN_RESHARD_ALLSHARDINGS_H
#define PCC_TEST_PASSES_PLAN_RESHARD_ALLSHARDINGS_H

#include "passes/plan/reshard/Reshard.h"

#include <vector>

namespace pcc::plan {

/// Every way to put each of `digits`, in any order, on a dim or nowhere, or,
/// `withPartial`, on the list of partial sums. Each placement once.
std::vector<dist::Sharding> allShardings(const dist::SubAxes &digits,
                                         const dist::Shape &shape,
                                         bool withPartial);

/// Received bytes of: reduce everything, gather everything, then slice.
int64_t gatherThenSlice(const dist::Sharding &from, const dist::Shape &shape,
                        int64_t elementBytes, const dist::Mesh &mesh);

/// The least that the rank with the most receives, in elements, where `from` is
/// partial over n ranks and `to` is not.
///
/// No rank has a whole sum: each receives at least what it wants. And before
/// one rank has the whole sum of an element, n contributions have met, which
/// takes n - 1 messages; every other rank that wants it receives it after that.
/// So ranks together receive n - 2 + (ranks that want it) per element.
int64_t reductionLowerBound(const dist::Sharding &from,
                            const dist::Sharding &to, const dist::Shape &shape,
                            const dist::Mesh &mesh);

/// The fewest bytes that any plan of these steps receives: a movement to
/// another sharding with the same partials, a reduce_scatter over some of
/// `digits`, an all_reduce over the others, a movement to `to`. Tries all of
/// them. `all` are the shardings on the way; volumes are those of Reshard.h.
int64_t cheapestReduction(const dist::Sharding &from, const dist::Sharding &to,
                          const std::vector<dist::Sharding> &all,
                          const dist::SubAxes &digits, const dist::Shape &shape,
                          int64_t elementBytes, const dist::Mesh &mesh);

} // namespace pcc::plan

#endif // PCC_TEST_PASSES_PLAN_RESHARD_ALLSHARDINGS_H
