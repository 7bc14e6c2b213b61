//===- LowerContractions.h - contractions in the form of libraries --------===//

#ifndef PCC_PASSES_7_EMIT_LOWER_LOWERCONTRACTIONS_H
#define PCC_PASSES_7_EMIT_LOWER_LOWERCONTRACTIONS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace pcc::emit {

/// Replaces einsums and integer matmuls of `function` by ops that libraries and
/// kernels can run:
///
///   einsum "ij,jk,kl->il" (x, y, z)   becomes   matmul (matmul x, y), z
///   matmul x, y of integers           becomes   reduce sum (mul x', y')
///
/// Here x' and y' are reshaped to broadcast to [..., m, n, k]. An einsum of
/// integers becomes products and sums, too.
///
/// Some products of two float tensors are no matmuls, such as "ij,ij->ij". They
/// become einsums with two operands, which sum over at most one dim.
void lowerContractions(mlir::func::FuncOp function);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_LOWER_LOWERCONTRACTIONS_H
