//===- ExpertAxes.h - sub-axes of dp and cp that divide experts -----------===//

#ifndef PCC_PASSES_4_SHARD_GRAPH_EXPERTAXES_H
#define PCC_PASSES_4_SHARD_GRAPH_EXPERTAXES_H

#include "dialects/dist/DistDialect.h"

namespace pcc::shard {

/// Returns sub-axes of the mesh axes dp and cp along which ranks divide the
/// experts into `numParts` groups. Uses as much of dp as possible, then cp.
/// Takes minor sub-axes, because ranks along them are close. `numParts` must
/// divide dp · cp.
dist::SubAxes expertAxes(const dist::Mesh &mesh, int64_t numParts);

} // namespace pcc::shard

#endif // PCC_PASSES_4_SHARD_GRAPH_EXPERTAXES_H
