//===- LowerExperts.h - mixture-of-experts ops as matmuls and gathers -----===//

#ifndef PCC_PASSES_7_EMIT_GPU_LOWER_LOWEREXPERTS_H
#define PCC_PASSES_7_EMIT_GPU_LOWER_LOWEREXPERTS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace pcc::emit {

/// Replaces the ops of dropless mixture-of-experts layers (as in MegaBlocks,
/// Gale et al. 2022) in `function`. Returns the number of replaced ops.
///
/// graph.group_rows lists the (token, expert) pairs sorted by expert. Prefix
/// sums give the place of each pair in the list.
///
/// graph.grouped_matmul multiplies the rows of a matrix, one per pair, with the
/// matrices of their experts. It becomes one of two batched matmuls, whichever
/// needs less memory:
///
///   all matrices   multiplies all rows with every matrix, and selects one
///                  product per row
///   tiles          copies the rows of each expert into tiles of 128 rows, and
///                  multiplies each tile with a copy of the expert's matrix
int64_t lowerExperts(mlir::func::FuncOp function);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_GPU_LOWER_LOWEREXPERTS_H
