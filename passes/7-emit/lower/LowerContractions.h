//===- LowerContractions.h - contractions in the form of libraries --------===//

#ifndef PCC_PASSES_7_EMIT_LOWER_LOWERCONTRACTIONS_H
#define PCC_PASSES_7_EMIT_LOWER_LOWERCONTRACTIONS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace pcc::emit {

/// Replaces each einsum in `function`, and each matmul of integers. Products of
/// floats become matmuls, or einsums of two tensors that sum over at most one
/// dim. Products of integers become element-wise products and sums. An einsum
/// of one tensor becomes a sum and a transpose.
void lowerContractions(mlir::func::FuncOp function);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_LOWER_LOWERCONTRACTIONS_H
