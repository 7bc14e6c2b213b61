//===- Differentiate.h - reverse-mode differentiation of a block ----------===//

#ifndef PCC_DIALECTS_GRAPH_GRADIENTS_DIFFERENTIATE_H
#define PCC_DIALECTS_GRAPH_GRADIENTS_DIFFERENTIATE_H

#include "dialects/graph/gradients/GradientBuilder.h"

namespace pcc::graph {

/// Builds the gradients of a loss with respect to the values `wanted` by
/// reverse-mode differentiation. Returns one gradient per wanted value, in
/// order. Each gradient has the type of its value. It is null if no path of
/// float tensors leads from the value to `target`.
///
///   target      value at which the backward pass begins, usually the loss
///   seed        gradient of the loss with respect to `target`, of the type of
///               `target`, such as 1 if `target` is the loss
///   wanted      values whose gradients are returned
///   before      op in front of which all new ops are inserted
///   onOp        callback for each new op; its first argument is the forward op
///               whose gradient the new op helps to compute; may be null
///   staysWhole  decides which attention ops get fused gradient ops (see
///               GradientBuilder::staysWhole); may be null
///
/// `target`, `wanted` and `before` must be in one block. An op is
/// differentiated only if it is on a path of float tensors from a wanted value
/// to `target`. Fails if an op on such a path has no gradient. The error is
/// emitted at that op, and ops built before the error stay in the block.
///
/// If a value has several users, each user contributes a gradient. The
/// contributions are added in reverse order of the users. For an addition,
/// `onOp` gets the earlier of the two users as the forward op.
Gradients differentiate(mlir::Value target, mlir::Value seed,
                        mlir::ValueRange wanted, mlir::Operation *before,
                        GradientBuilder::OnOp onOp = nullptr,
                        GradientBuilder::StaysWhole staysWhole = nullptr);

} // namespace pcc::graph

#endif // PCC_DIALECTS_GRAPH_GRADIENTS_DIFFERENTIATE_H
