//===- WholeBatchReductions.h - reductions over the whole batch -----------===//

#ifndef PCC_PASSES_4_SHARD_GRAPH_WHOLEBATCHREDUCTIONS_H
#define PCC_PASSES_4_SHARD_GRAPH_WHOLEBATCHREDUCTIONS_H

#include "passes/4-shard/graph/Seeds.h"

namespace pcc::shard {

/// Finds the reductions over the batch that depend only on inputs of the model,
/// such as the number of labels by which a loss is divided. The value of such a
/// reduction depends on the whole batch. It cannot be computed from a single
/// microbatch, but it can be computed before the first microbatch.
///
/// Replaces each of these reductions, and the ops that it depends on, by clones
/// that read whole inputs and are marked with an attribute. Erases pure ops
/// that are then unused. `seeds` (requested shardings) must be resolved again
/// afterwards, because seeds refer to ops that may be erased.
///
///   %n = graph.reduce sum %labels over [0, 1]      all microbatches share it
void separateWholeBatchReductions(mlir::func::FuncOp function,
                                  const Seeds &seeds);

/// Removes the marks that separateWholeBatchReductions has set on clones. Must
/// be called after shardings are decided. The marks are then not needed,
/// because the shardings record that the clones read the whole batch.
void eraseWholeBatchMarks(mlir::func::FuncOp function);

/// Returns whether `op` is a clone that separateWholeBatchReductions has
/// marked. `op` may be null.
bool seesWholeBatch(mlir::Operation *op);
/// Returns whether a clone that separateWholeBatchReductions has marked reads
/// `argument`.
bool isReadByWholeBatchOp(mlir::Value argument);

} // namespace pcc::shard

#endif // PCC_PASSES_4_SHARD_GRAPH_WHOLEBATCHREDUCTIONS_H
