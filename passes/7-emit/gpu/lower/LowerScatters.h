//===- LowerScatters.h - scatters by comparing places ---------------------===//

#ifndef PCC_PASSES_7_EMIT_GPU_LOWER_LOWERSCATTERS_H
#define PCC_PASSES_7_EMIT_GPU_LOWER_LOWERSCATTERS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace pcc::emit {

/// Replaces scatters: each element of the result looks for the updates whose
/// place it is. Which of them counts does not depend on the order in which
/// threads run. Returns how many ops there were.
int64_t lowerScatters(mlir::func::FuncOp function);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_GPU_LOWER_LOWERSCATTERS_H
