//===- LowerScatters.h - scatters as reductions over updates --------------===//

#ifndef PCC_PASSES_7_EMIT_GPU_LOWER_LOWERSCATTERS_H
#define PCC_PASSES_7_EMIT_GPU_LOWER_LOWERSCATTERS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace pcc::emit {

/// Replaces the graph.scatter_elements and graph.scatter_nd ops of `function`.
/// Returns the number of replaced ops. Reductions combine all updates of one
/// element. Results are deterministic, unlike results of atomic additions.
int64_t lowerScatters(mlir::func::FuncOp function);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_GPU_LOWER_LOWERSCATTERS_H
