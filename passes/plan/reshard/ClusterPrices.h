//===- ClusterPrices.h - prices of mesh axes from the links of a cluster --===//

#ifndef PCC_PASSES_PLAN_RESHARD_CLUSTERPRICES_H
#define PCC_PASSES_PLAN_RESHARD_CLUSTERPRICES_H

#include "passes/plan/reshard/Reshard.h"

namespace pcc::plan {

/// Returns the price of communication along each axis of `mesh` except the time
/// axis. The coordinates along the time axis are microbatches, not ranks. The
/// price of an axis is the latency and the bandwidth of one network link.
///
/// A network has one link for each of its levels, such as NVLink within a node
/// and InfiniBand between nodes. The span of a link is the number of
/// consecutive ranks that the link connects. An axis needs a span of d * n,
/// where n is the size of the axis and d is the distance of two neighboring
/// ranks along the axis. The function takes the link with the smallest span
/// that is large enough. If no link is large enough, it takes the link with the
/// largest span. Example with the mesh {dp=2, tp=4}:
///
///     axis    first group of ranks    d    n    needed span
///     tp      0, 1, 2, 3              1    4    4
///     dp      0, 4                    4    2    8
///
/// A cluster file can also contain measured times of collectives. The function
/// does not use them.
Prices pricesOf(const Cluster &cluster, const dist::Mesh &mesh);

/// Returns prices of communication along the axes of `mesh`. `clusterText` is
/// the text of a cluster file, which describes the machines and the network.
/// The text must be valid or empty.
///
///  - If the text is not empty, the result has a latency and a bandwidth for
///    each axis of `mesh` except the time axis. The coordinates along the time
///    axis are microbatches, not ranks. The price of a collective is then a
///    time in seconds. `target` is "cpu" or "cuda". The compiler has a built-in
///    description of a cluster for each target. If the text does not set a
///    field, the function takes the value of this field from the built-in
///    description of `target`.
///  - If the text is empty, the function does not use the built-in description.
///    The price of a collective is then the number of bytes that a rank
///    receives in the collective.
Prices pricesOf(std::string_view clusterText, std::string_view target,
                const dist::Mesh &mesh);

} // namespace pcc::plan

#endif // PCC_PASSES_PLAN_RESHARD_CLUSTERPRICES_H
