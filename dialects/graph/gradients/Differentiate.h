//===- Differentiate.h - reverse-mode differentiation of a block ----------===//

#ifndef PCC_DIALECTS_GRAPH_GRADIENTS_DIFFERENTIATE_H
#define PCC_DIALECTS_GRAPH_GRADIENTS_DIFFERENTIATE_H

#include "dialects/graph/gradients/GradientBuilder.h"

namespace pcc::graph {

/// Builds the gradients of a loss with respect to the values `wanted` by
/// reverse-mode differentiation. Returns one gradient per value in `wanted`, in
/// order. Each gradient has the type of its value. It is null if no path of
/// float tensors leads from the value to the loss.
///
///   target  value at which the backward pass begins, usually the loss
///   seed    gradient of the loss with respect to `target`, of the type of
///           `target`; 1 if `target` is the loss
///   wanted  values whose gradients are returned
///   before  op in front of which all new ops are inserted
///
/// `target`, `wanted` and `before` must be in one block. The ops of the block
/// are visited in reverse order, starting with the op that defines `target`. An
/// op is differentiated only if it is on a path of float tensors from a wanted
/// value to `target`.
///
/// If a value has several users, each user contributes a gradient. The
/// contributions are added in reverse order of the users.
///
/// `onOp` is called for each new op, with the forward op whose gradient the new
/// op helps to compute. For an op that adds the contributions of two users, the
/// forward op is the earlier of these users. `staysWhole` decides which
/// attention ops get fused gradient ops (see GradientBuilder::staysWhole).
/// `onOp` and `staysWhole` may be null.
///
/// Fails if an op on such a path has no gradient. The error is emitted at that
/// op. Ops that were built before the error stay in the block.
Gradients differentiate(mlir::Value target, mlir::Value seed,
                        mlir::ValueRange wanted, mlir::Operation *before,
                        GradientBuilder::OnOp onOp = nullptr,
                        GradientBuilder::StaysWhole staysWhole = nullptr);

} // namespace pcc::graph

#endif // PCC_DIALECTS_GRAPH_GRADIENTS_DIFFERENTIATE_H
