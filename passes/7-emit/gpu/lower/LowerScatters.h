//===- LowerScatters.h - scatters as reductions over updates --------------===//

#ifndef PCC_PASSES_7_EMIT_GPU_LOWER_LOWERSCATTERS_H
#define PCC_PASSES_7_EMIT_GPU_LOWER_LOWERSCATTERS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace pcc::emit {

/// Replaces the graph.scatter_elements and graph.scatter_nd ops of `function`
/// by reductions: each element of a result is a reduction over the updates with
/// its index. Returns the number of replaced ops.
///
/// Results are deterministic, unlike those of atomic operations.
int64_t lowerScatters(mlir::func::FuncOp function);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_GPU_LOWER_LOWERSCATTERS_H
