//===- LowerScatters.h - scatters as reductions over updates --------------===//

#ifndef PCC_PASSES_7_EMIT_GPU_LOWER_LOWERSCATTERS_H
#define PCC_PASSES_7_EMIT_GPU_LOWER_LOWERSCATTERS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace pcc::emit {

/// Replaces the graph.scatter_elements and graph.scatter_nd ops of `function`
/// by reductions (RowwiseScatter.h). For each element of the result, a
/// reduction combines the updates of the element. Returns the number of
/// replaced ops.
///
/// Results are deterministic, unlike those of atomic operations: the order in
/// which updates are combined does not depend on the order in which threads
/// run.
int64_t lowerScatters(mlir::func::FuncOp function);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_GPU_LOWER_LOWERSCATTERS_H
