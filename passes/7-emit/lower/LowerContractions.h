//===- LowerContractions.h - products in the form that libraries take -----===//

#ifndef PCC_PASSES_7_EMIT_LOWER_LOWERCONTRACTIONS_H
#define PCC_PASSES_7_EMIT_LOWER_LOWERCONTRACTIONS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace pcc::emit {

/// Rewrites einsums to matmuls, or to einsums of two float operands that sum
/// over at most one letter, with reductions, transposes and reshapes around
/// them. Products of integers become multiplications and sums, which kernels
/// can hold.
void lowerContractions(mlir::func::FuncOp function);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_LOWER_LOWERCONTRACTIONS_H
