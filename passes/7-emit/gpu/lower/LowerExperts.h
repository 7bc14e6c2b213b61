//===- LowerExperts.h - mixture-of-experts ops as matmuls and gathers -----===//

#ifndef PCC_PASSES_7_EMIT_GPU_LOWER_LOWEREXPERTS_H
#define PCC_PASSES_7_EMIT_GPU_LOWER_LOWEREXPERTS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace pcc::emit {

/// Replaces the ops graph.group_rows and graph.grouped_matmul in `function`.
/// These ops belong to dropless mixture-of-experts layers (MegaBlocks, Gale et
/// al. 2022). Returns the number of replaced ops.
int64_t lowerExperts(mlir::func::FuncOp function);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_GPU_LOWER_LOWEREXPERTS_H
