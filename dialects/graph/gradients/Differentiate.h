//===- Differentiate.h - reverse-mode differentiation of a block ----------===//

#ifndef PCC_DIALECTS_GRAPH_GRADIENTS_DIFFERENTIATE_H
#define PCC_DIALECTS_GRAPH_GRADIENTS_DIFFERENTIATE_H

#include "dialects/graph/gradients/GradientBuilder.h"

namespace pcc::graph {

/// Builds the gradients of a loss with respect to the values `wanted` by
/// reverse-mode differentiation. Returns one gradient per wanted value. Each
/// gradient has the type of its wanted value. A null gradient means that the
/// gradient is 0 everywhere, for example because `target` does not depend on
/// the wanted value. If a wanted value is not a float tensor, its gradient is
/// null, too.
///
///   target      value at which the backward pass begins, usually the loss
///   seed        gradient of the loss with respect to `target`, of the type of
///               `target`; it is the constant 1 if `target` is the loss
///   wanted      values whose gradients are returned
///   before      op in front of which all new ops are inserted
///   onOp        callback that is called for each new op; its first argument is
///               the forward op whose gradient the new op helps to compute, and
///               its second argument is the new op; may be null
///   staysWhole  callback that is called for attention ops; if it returns true,
///               the gradient may be built from the fused gradient ops of
///               attention; if it returns false or is null, the gradient is
///               built from matmuls and element-wise ops
///
/// `target`, `wanted` and `before` must belong to one block. If the backward
/// pass needs the gradient of an op for which no gradient is implemented, the
/// function emits an error and fails. After a failure, the ops that have been
/// built so far remain in the block.
Gradients differentiate(mlir::Value target, mlir::Value seed,
                        mlir::ValueRange wanted, mlir::Operation *before,
                        GradientBuilder::OnOp onOp = nullptr,
                        GradientBuilder::StaysWhole staysWhole = nullptr);

} // namespace pcc::graph

#endif // PCC_DIALECTS_GRAPH_GRADIENTS_DIFFERENTIATE_H
