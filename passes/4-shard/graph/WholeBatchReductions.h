//===- WholeBatchReductions.h - reductions over the whole batch -----------===//

#ifndef PCC_PASSES_4_SHARD_GRAPH_WHOLEBATCHREDUCTIONS_H
#define PCC_PASSES_4_SHARD_GRAPH_WHOLEBATCHREDUCTIONS_H

#include "passes/4-shard/graph/Seeds.h"

namespace pcc::shard {

/// Replaces reductions over the batch that depend only on model inputs and
/// constants. An example is the number of labels in the batch, by which a loss
/// is divided. Each reduction is replaced by a clone that reads the whole
/// batch. Other ops read one microbatch, which is a part of the batch. A clone
/// runs once, before the first microbatch, and all microbatches use its result.
/// The attribute `dist.once_per_step` marks a clone. The ops that compute the
/// operands of a clone are cloned and marked, too. At the end, the function
/// erases pure ops that have no users.
///
/// `seeds` are the shardings that the user or the model requests for ops of
/// `function`. They refer to ops that this function may erase. The caller must
/// therefore not use `seeds` afterwards, and must call Seeds::resolve to get
/// new ones.
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
