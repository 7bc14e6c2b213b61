//===- LowerScatters.h - scatters as reductions over updates --------------===//

#ifndef PCC_PASSES_7_EMIT_GPU_LOWER_LOWERSCATTERS_H
#define PCC_PASSES_7_EMIT_GPU_LOWER_LOWERSCATTERS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace pcc::emit {

/// Replaces the graph.scatter_elements and graph.scatter_nd ops of `function`.
/// Returns the number of replaced ops.
///
/// A scatter applies updates to the elements of a tensor. Each update has an
/// index, which selects an element. Several updates can select the same
/// element. The new ops contain reductions that combine these updates, for
/// example by a sum. Results are deterministic, unlike results of atomic
/// additions.
int64_t lowerScatters(mlir::func::FuncOp function);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_GPU_LOWER_LOWERSCATTERS_H
