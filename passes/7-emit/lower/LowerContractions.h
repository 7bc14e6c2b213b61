//===- LowerContractions.h - contractions in the form of libraries --------===//

#ifndef PCC_PASSES_7_EMIT_LOWER_LOWERCONTRACTIONS_H
#define PCC_PASSES_7_EMIT_LOWER_LOWERCONTRACTIONS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace pcc::emit {

/// Replaces einsums and integer matmuls of `function` by ops that libraries and
/// kernels can run. An einsum of floats becomes matmuls, with reductions,
/// transposes and reshapes around them. Libraries multiply only floats, so
/// integer einsums and integer matmuls become element-wise products and sums:
///
///   einsum "ij,jk,kl->il" (x, y, z)   becomes   matmul (matmul x, y), z
///   matmul x, y of integers           becomes   reduce sum (mul x', y')
///
/// Here x' and y' are reshapes and transposes that broadcast to [..., m, n, k].
/// A product of floats that is no matmul stays an einsum, of two operands that
/// are summed over at most one letter.
void lowerContractions(mlir::func::FuncOp function);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_LOWER_LOWERCONTRACTIONS_H
