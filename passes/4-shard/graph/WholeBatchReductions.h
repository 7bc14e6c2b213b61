//===- WholeBatchReductions.h - what is computed of the inputs of a whole step ===//

#ifndef PCC_PASSES_4_SHARD_GRAPH_WHOLEBATCHREDUCTIONS_H
#define PCC_PASSES_4_SHARD_GRAPH_WHOLEBATCHREDUCTIONS_H

#include "passes/4-shard/graph/Seeds.h"

namespace pcc::shard {

/// What a reduction over the batch gives, if it depends on inputs alone, is
/// known before the first microbatch: the number of labels that a loss divides
/// by. Such reductions and what they depend on become ops of their own, which
/// see all microbatches at once.
///
///   %n = graph.reduce sum %labels over [0, 1]      microbatches share it
void separateWholeBatchReductions(mlir::func::FuncOp function,
                                  const Seeds &seeds);

/// Removes the marks of these ops, once their shardings say the same.
void eraseWholeBatchMarks(mlir::func::FuncOp function);

/// Whether an op sees all microbatches at once; false for null.
bool seesWholeBatch(mlir::Operation *op);
/// Whether some such op reads an input.
bool isReadByWholeBatchOp(mlir::Value argument);

} // namespace pcc::shard

#endif // PCC_PASSES_4_SHARD_GRAPH_WHOLEBATCHREDUCTIONS_H
