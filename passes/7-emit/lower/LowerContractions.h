//===- LowerContractions.h - contractions in the form of libraries --------===//

#ifndef PCC_PASSES_7_EMIT_LOWER_LOWERCONTRACTIONS_H
#define PCC_PASSES_7_EMIT_LOWER_LOWERCONTRACTIONS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace pcc::emit {

/// Replaces each einsum in `function`, and each matmul of integers, by simpler
/// ops that the rest of the compiler supports. There are four cases:
///
///   - An einsum with one operand becomes a sum and a transpose. Example:
///     "ijk->ki" becomes a sum over j and a transpose.
///   - An einsum of floats with several operands becomes a sequence of products
///     of two tensors. If such a product can be a matmul, it becomes a matmul.
///     Example: "ij,jk,kl->il" of the tensors x, y and z becomes a matmul of x
///     and y, and a matmul of the result and z.
///   - If a product of two tensors of floats cannot be a matmul, it becomes an
///     einsum of these two tensors. This einsum sums over at most one dim.
///     Example: "ij,ij,ij->ij" becomes two einsums "ij,ij->ij".
///   - An einsum or a matmul of integers becomes element-wise products and
///     sums. Example: for a matmul of [m, k] and [k, n], the element-wise
///     product has the shape [m, n, k]. A sum over k then gives [m, n].
void lowerContractions(mlir::func::FuncOp function);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_LOWER_LOWERCONTRACTIONS_H
