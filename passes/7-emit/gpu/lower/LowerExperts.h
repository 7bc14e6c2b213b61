//===- LowerExperts.h - mixture-of-experts ops as matmuls and gathers -----===//

#ifndef PCC_PASSES_7_EMIT_GPU_LOWER_LOWEREXPERTS_H
#define PCC_PASSES_7_EMIT_GPU_LOWER_LOWEREXPERTS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace pcc::emit {

/// Replaces the ops graph.group_rows and graph.grouped_matmul in `function`.
/// Returns the number of replaced ops. The ops belong to dropless
/// mixture-of-experts layers (MegaBlocks, Gale et al. 2022). graph.group_rows
/// lists all pairs (token, expert), sorted by expert. Prefix sums replace this
/// op. graph.grouped_matmul multiplies one vector per pair with the matrix of
/// the expert. A batched matmul replaces this op. The batched matmul multiplies
/// either every vector with every matrix, or tiles of 128 vectors with one
/// matrix each. The function chooses the way that needs less memory.
int64_t lowerExperts(mlir::func::FuncOp function);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_GPU_LOWER_LOWEREXPERTS_H
