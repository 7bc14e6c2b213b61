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

/// Removes the marks that separateWholeBatchReductions has set on clones. Must
/// be called after shardings are decided.
void eraseWholeBatchMarks(mlir::func::FuncOp function);

/// Returns whether `op` is a clone that separateWholeBatchReductions has
/// marked. `op` may be null.
bool seesWholeBatch(mlir::Operation *op);
/// Returns whether a clone that separateWholeBatchReductions has marked reads
/// `argument`.
bool isReadByWholeBatchOp(mlir::Value argument);

} // namespace pcc::shard

#endif // PCC_PASSES_4_SHARD_GRAPH_WHOLEBATCHREDUCTIONS_H
