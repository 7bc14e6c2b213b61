//===- LowerExperts.h - mixture-of-experts ops as matmuls and gathers -----===//

#ifndef PCC_PASSES_7_EMIT_GPU_LOWER_LOWEREXPERTS_H
#define PCC_PASSES_7_EMIT_GPU_LOWER_LOWEREXPERTS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace pcc::emit {

/// Replaces the ops graph.group_rows and graph.grouped_matmul in `function`.
/// Returns the number of replaced ops.
///
/// The two ops belong to dropless mixture-of-experts layers (as in MegaBlocks,
/// Gale et al. 2022). Each expert of a layer has a matrix. The layer sends each
/// token to some of the experts.
///
/// graph.group_rows lists all pairs (token, expert) in which the token is sent
/// to the expert. The list is sorted by expert. The function replaces the op by
/// prefix sums, which compute the position of each pair in the list.
///
/// graph.grouped_matmul has one input vector for each pair of the list. The op
/// multiplies each vector with the matrix of the pair's expert. The function
/// replaces the op by a batched matmul in one of two ways. The function chooses
/// the way that needs less memory:
///
///   all matrices   multiplies every vector with every matrix, then selects one
///                  product for each vector
///   tiles          copies the vectors of each expert into tiles of 128
///                  vectors, then multiplies each tile with a copy of the
///                  expert's matrix
int64_t lowerExperts(mlir::func::FuncOp function);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_GPU_LOWER_LOWEREXPERTS_H
