//===- LowerExperts.h - rows of experts by counting -----------------------===//

#ifndef PCC_PASSES_7_EMIT_GPU_LOWER_LOWEREXPERTS_H
#define PCC_PASSES_7_EMIT_GPU_LOWER_LOWEREXPERTS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace pcc::emit {

/// Replaces the ordering of rows by experts, whose places running counts tell,
/// and products by experts: either all matrices multiply all rows, and each row
/// keeps what its expert made of it, or rows are laid in tiles of one expert
/// each, whichever needs less memory. Returns how many ops there were.
int64_t lowerExperts(mlir::func::FuncOp function);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_GPU_LOWER_LOWEREXPERTS_H
