//===- LowerExperts.h - mixture-of-experts ops as matmuls and gathers -----===//

#ifndef PCC_PASSES_7_EMIT_GPU_LOWER_LOWEREXPERTS_H
#define PCC_PASSES_7_EMIT_GPU_LOWER_LOWEREXPERTS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace pcc::emit {

/// Replaces the ops of dropless mixture-of-experts layers (as in MegaBlocks,
/// Gale et al. 2022) in `function`. Returns the number of replaced ops.
///
/// graph.group_rows lists the (token, expert) pairs whose gate is not 0, sorted
/// by expert. Prefix sums of the numbers of pairs give the index of each pair
/// in the list, so that no sort is needed.
///
/// graph.grouped_matmul multiplies each row with the matrix of the row's
/// expert. It becomes one of two batched matmuls, whichever needs less memory:
///
///   all matrices   multiplies all rows with every matrix, and selects for each
///                  row the product with the matrix of its expert
///   tiles          copies the rows into tiles of 128 rows of one expert, and
///                  multiplies each tile with a copy of the expert's matrix
int64_t lowerExperts(mlir::func::FuncOp function);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_GPU_LOWER_LOWEREXPERTS_H
