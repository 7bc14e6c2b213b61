//===- WholeBatchReductions.h - reductions over the whole batch -----------===//

#ifndef PCC_PASSES_4_SHARD_GRAPH_WHOLEBATCHREDUCTIONS_H
#define PCC_PASSES_4_SHARD_GRAPH_WHOLEBATCHREDUCTIONS_H

#include "passes/4-shard/graph/Seeds.h"

namespace pcc::shard {

/// Lets reductions over the batch that depend on inputs alone see the batch of
/// the whole step rather than of one microbatch. An example is the number of
/// labels by which a loss is divided. The value can be computed before the
/// first microbatch, but from no single microbatch.
///
/// Replaces each of these reductions, and the ops that it depends on, by marked
/// clones that read whole inputs. Erases pure ops that are then unused.
/// Invalidates `seeds` for replaced ops, so seeds must be resolved again.
///
///   %n = graph.reduce sum %labels over [0, 1]      all microbatches share it
void separateWholeBatchReductions(mlir::func::FuncOp function,
                                  const Seeds &seeds);

/// Removes the marks of these clones. Called once shardings have been decided;
/// the shardings then say that the clones see the whole batch.
void eraseWholeBatchMarks(mlir::func::FuncOp function);

/// Returns whether `op` is such a clone. `op` may be null.
bool seesWholeBatch(mlir::Operation *op);
/// Returns whether some such clone reads `argument`.
bool isReadByWholeBatchOp(mlir::Value argument);

} // namespace pcc::shard

#endif // PCC_PASSES_4_SHARD_GRAPH_WHOLEBATCHREDUCTIONS_H
