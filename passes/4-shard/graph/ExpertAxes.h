//===- ExpertAxes.h - sub-axes of dp and cp that divide experts -----------===//

#ifndef PCC_PASSES_4_SHARD_GRAPH_EXPERTAXES_H
#define PCC_PASSES_4_SHARD_GRAPH_EXPERTAXES_H

#include "dialects/dist/DistDialect.h"

namespace pcc::shard {

/// Returns the sub-axes of the mesh axes dp and cp that divide the experts into
/// `numParts` parts. Uses as much of dp as possible, and cp for the rest. From
/// each axis, takes the minor sub-axis, because ranks along it are close to
/// each other. For example, dp:(2)2 is the minor half of an axis dp of size 4:
///
///   dp = 4, 2 parts:           dp:(2)2
///   dp = 2, cp = 4, 4 parts:   dp:(1)2, cp:(2)2
///
/// `numParts` must divide dp times cp.
dist::SubAxes expertAxes(const dist::Mesh &mesh, int64_t numParts);

} // namespace pcc::shard

#endif // PCC_PASSES_4_SHARD_GRAPH_EXPERTAXES_H
