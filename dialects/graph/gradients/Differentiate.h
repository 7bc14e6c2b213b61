//===- Differentiate.h - reverse-mode differentiation of a block ----------===//

#ifndef PCC_DIALECTS_GRAPH_GRADIENTS_DIFFERENTIATE_H
#define PCC_DIALECTS_GRAPH_GRADIENTS_DIFFERENTIATE_H

#include "dialects/graph/gradients/GradientBuilder.h"

namespace pcc::graph {

/// Builds the gradients of a loss with respect to the values `wanted` by
/// reverse-mode differentiation. Returns one gradient per wanted value, of the
/// type of the value. The gradient is null if `target` does not depend on the
/// value through float tensors.
///
///   target      value at which the backward pass begins, usually the loss
///   seed        gradient of the loss with respect to `target`, of the type of
///               `target`, such as 1 if `target` is the loss
///   wanted      values whose gradients are returned
///   before      op in front of which all new ops are inserted
///   onOp        callback for each new op; its first argument is the forward op
///               whose gradient the new op helps to compute; may be null
///   staysWhole  returns whether an attention op gets fused gradient ops; null
///               means no
///
/// `target`, `wanted` and `before` must be in one block. Emits an error and
/// fails if an op between a wanted value and `target` has no gradient. New ops
/// then stay in the block.
Gradients differentiate(mlir::Value target, mlir::Value seed,
                        mlir::ValueRange wanted, mlir::Operation *before,
                        GradientBuilder::OnOp onOp = nullptr,
                        GradientBuilder::StaysWhole staysWhole = nullptr);

} // namespace pcc::graph

#endif // PCC_DIALECTS_GRAPH_GRADIENTS_DIFFERENTIATE_H
