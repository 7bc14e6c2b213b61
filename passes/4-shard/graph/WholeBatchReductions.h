//===- WholeBatchReductions.h - reductions over the whole batch -----------===//

#ifndef PCC_PASSES_4_SHARD_GRAPH_WHOLEBATCHREDUCTIONS_H
#define PCC_PASSES_4_SHARD_GRAPH_WHOLEBATCHREDUCTIONS_H

#include "passes/4-shard/graph/Seeds.h"

namespace pcc::shard {

/// Finds reductions over the batch that depend only on model inputs, such as
/// the number of labels by which a loss is divided. Replaces each of them by a
/// marked clone that reads the whole batch at once. The clones run before the
/// first microbatch, and all microbatches use their results. Erases pure ops
/// that have no users any more.
///
/// `seeds` (requested shardings) refer to ops that this function replaces. The
/// caller must resolve them again afterwards.
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
