//===- WholeBatchReductions.h - reductions over the whole batch -----------===//

#ifndef PCC_PASSES_4_SHARD_GRAPH_WHOLEBATCHREDUCTIONS_H
#define PCC_PASSES_4_SHARD_GRAPH_WHOLEBATCHREDUCTIONS_H

#include "passes/4-shard/graph/Seeds.h"

namespace pcc::shard {

/// Replaces reductions over the batch dim that depend only on model inputs and
/// constants, such as the number of labels in a loss. Each replacement is a
/// clone that reads the whole batch and runs once for all microbatches.
/// `dist.once_per_step` marks the clones. Erases ops that are then unused.
/// `seeds` may refer to erased ops, so the caller must call Seeds::resolve
/// again.
void separateWholeBatchReductions(mlir::func::FuncOp function,
                                  const Seeds &seeds);

/// Removes the attribute `dist.once_per_step`, which
/// separateWholeBatchReductions has set. Call it only after all shardings are
/// decided.
void eraseWholeBatchMarks(mlir::func::FuncOp function);

/// Returns whether `op` runs once for all microbatches and reads the whole
/// batch. The attribute `dist.once_per_step` marks such an op. `op` may be
/// null.
bool seesWholeBatch(mlir::Operation *op);
/// Returns whether `argument`, a function argument, has a user that runs once
/// for all microbatches and reads the whole batch. The attribute
/// `dist.once_per_step` marks such a user.
bool isReadByWholeBatchOp(mlir::Value argument);

} // namespace pcc::shard

#endif // PCC_PASSES_4_SHARD_GRAPH_WHOLEBATCHREDUCTIONS_H
