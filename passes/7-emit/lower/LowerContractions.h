//===- LowerContractions.h - contractions in the form of libraries --------===//

#ifndef PCC_PASSES_7_EMIT_LOWER_LOWERCONTRACTIONS_H
#define PCC_PASSES_7_EMIT_LOWER_LOWERCONTRACTIONS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace pcc::emit {

/// Replaces each einsum in `function`, and each matmul of integers:
///
///   - An einsum with one operand becomes a sum and a transpose.
///   - An einsum of floats with several operands becomes a sequence of products
///     of two tensors. A product becomes a matmul if possible: "ij,jk,kl->il"
///     becomes two matmuls. Otherwise the product becomes an einsum of two
///     tensors that sums over at most one dim.
///   - An einsum or a matmul of integers becomes element-wise products and
///     sums.
void lowerContractions(mlir::func::FuncOp function);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_LOWER_LOWERCONTRACTIONS_H
