//===- Differentiate.h - reverse-mode differentiation of a block ----------===//

#ifndef PCC_DIALECTS_GRAPH_GRADIENTS_DIFFERENTIATE_H
#define PCC_DIALECTS_GRAPH_GRADIENTS_DIFFERENTIATE_H

#include "dialects/graph/gradients/GradientBuilder.h"

namespace pcc::graph {

/// Builds the gradients of a loss with respect to the values `wanted` by
/// reverse-mode differentiation. Returns one gradient per value in `wanted`, in
/// the same order. The gradient has the type of the value, or is null if the
/// loss does not depend on the value through float tensors.
///
///   target  value at which the backward pass begins, usually the loss
///   seed    gradient of the loss with respect to `target`, of the type of
///           `target`; 1 if `target` is the loss
///   wanted  values whose gradients are returned
///   before  op in front of which all new ops are inserted
///
/// `target`, `wanted` and `before` must be in one block. The ops of the block
/// are visited in reverse order, from the op that defines `target`. An op is
/// differentiated only if it is on a path of float tensors from a wanted value
/// to `target`.
///
/// If a value has several users, their gradients for the value are added in
/// reverse order of the users: those of the last two users first. `onOp` is
/// told that each addition belongs to the earlier of the users.
///
/// `onOp`, if given, is called for each new op with the forward op whose
/// gradient the new op helps to compute. `staysWhole`, if given, decides which
/// attention ops get fused gradient ops (see GradientBuilder::staysWhole).
///
/// Fails if an op on such a path has no gradient. The error is emitted at that
/// op. The ops that were built before the error stay in the block.
Gradients differentiate(mlir::Value target, mlir::Value seed,
                        mlir::ValueRange wanted, mlir::Operation *before,
                        GradientBuilder::OnOp onOp = nullptr,
                        GradientBuilder::StaysWhole staysWhole = nullptr);

} // namespace pcc::graph

#endif // PCC_DIALECTS_GRAPH_GRADIENTS_DIFFERENTIATE_H
