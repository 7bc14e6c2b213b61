//===- CommonSubexpressions.h - CSE that ignores names --------------------===//

#ifndef PCC_PASSES_2_PREPARE_SIMPLIFY_COMMONSUBEXPRESSIONS_H
#define PCC_PASSES_2_PREPARE_SIMPLIFY_COMMONSUBEXPRESSIONS_H

#include "mlir/IR/Block.h"

namespace pcc::prepare {

/// Common subexpression elimination in `block`: if two ops without memory
/// effects have equal operands and properties, the earlier op replaces the
/// later one. Pinned ops, whose sharding the user fixes, are kept. Returns the
/// number of erased ops.
///
/// Locations and discardable attributes, such as names, may differ. MLIR's CSE
/// pass compares these attributes, so it would keep equal ops of different
/// names.
int64_t eliminateCommonSubexpressions(mlir::Block &block);

} // namespace pcc::prepare

#endif // PCC_PASSES_2_PREPARE_SIMPLIFY_COMMONSUBEXPRESSIONS_H
