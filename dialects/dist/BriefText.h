//===- BriefText.h - shardings in messages about ops ----------------------===//

#ifndef PCC_DIALECTS_DIST_BRIEFTEXT_H
#define PCC_DIALECTS_DIST_BRIEFTEXT_H

#include "dialects/dist/DistDialect.h"

namespace pcc::dist {

/// Returns `sharding` for a message about `op`, in the spelling of the option
/// --shard, such as "[tp, -]". `op` is a module with a mesh, or lies in one.
std::string briefText(const Sharding &sharding, mlir::Operation *op);
/// Does the same for an attribute, which must not be null.
std::string briefText(ShardingAttr sharding, mlir::Operation *op);

} // namespace pcc::dist

#endif // PCC_DIALECTS_DIST_BRIEFTEXT_H
