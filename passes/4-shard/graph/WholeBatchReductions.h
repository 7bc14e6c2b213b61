//===- WholeBatchReductions.h - reductions over the whole batch -----------===//

#ifndef PCC_PASSES_4_SHARD_GRAPH_WHOLEBATCHREDUCTIONS_H
#define PCC_PASSES_4_SHARD_GRAPH_WHOLEBATCHREDUCTIONS_H

#include "passes/4-shard/graph/Seeds.h"

namespace pcc::shard {

/// Replaces reductions over the batch that depend only on model inputs and
/// constants, such as the number of labels by which a loss is divided. Each
/// reduction is replaced by a clone that reads the whole batch and runs once
/// for all microbatches. The ops that compute its operands are cloned, too. The
/// attribute `dist.once_per_step` marks the clones. Then erases pure ops
/// without users. `seeds` (requested shardings) may refer to erased ops, so the
/// caller must call Seeds::resolve again.
void separateWholeBatchReductions(mlir::func::FuncOp function,
                                  const Seeds &seeds);

/// Removes the attribute `dist.once_per_step` from all ops of `function`. The
/// attribute marks ops that run once for all microbatches and read the whole
/// batch. The function separateWholeBatchReductions sets the attribute. Call
/// eraseWholeBatchMarks only after shardings are decided.
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
