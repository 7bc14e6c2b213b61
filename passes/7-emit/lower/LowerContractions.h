//===- LowerContractions.h - contractions in the form of libraries --------===//

#ifndef PCC_PASSES_7_EMIT_LOWER_LOWERCONTRACTIONS_H
#define PCC_PASSES_7_EMIT_LOWER_LOWERCONTRACTIONS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace pcc::emit {

/// Replaces each einsum and each integer matmul of `function` by ops that
/// libraries and kernels can run. An einsum of floats becomes a chain of
/// matmuls, surrounded by reductions, transposes and reshapes. Where no matmul
/// can express a product, it becomes an einsum of two operands that sums over
/// at most one letter. Integer einsums and integer matmuls become element-wise
/// products and sums, since libraries multiply floats only:
///
///   einsum "ij,jk,kl->il" (x, y, z)   becomes   matmul (matmul x, y), z
///   matmul x, y of integers           becomes   reduce sum (mul x', y')
///
/// Here x' and y' are reshapes and transposes that broadcast to [..., m, n, k].
void lowerContractions(mlir::func::FuncOp function);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_LOWER_LOWERCONTRACTIONS_H
