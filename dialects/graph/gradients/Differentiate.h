//===- Differentiate.h - reverse-mode differentiation of a block ----------===//

#ifndef PCC_DIALECTS_GRAPH_GRADIENTS_DIFFERENTIATE_H
#define PCC_DIALECTS_GRAPH_GRADIENTS_DIFFERENTIATE_H

#include "dialects/graph/gradients/GradientBuilder.h"

namespace pcc::graph {

/// Builds the gradients of a loss with respect to `wanted` by reverse-mode
/// differentiation. Returns one value per wanted value, of the type of that
/// value, or null if no gradient flows to it.
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
/// If several users of a value have gradients for it, these gradients are added
/// in reverse order of the users. Each addition belongs to the gradient of the
/// earlier user.
///
/// `onOp`, if given, is called for each new op with the forward op whose
/// gradient it belongs to. `staysWhole`, if given, is asked about ops whose
/// gradient can be built as fused ops (see GradientBuilder::staysWhole).
///
/// Fails if an op on such a path has no gradient. The error is emitted at that
/// op, and the ops that have been built until then stay in the block.
Gradients differentiate(mlir::Value target, mlir::Value seed,
                        mlir::ValueRange wanted, mlir::Operation *before,
                        GradientBuilder::OnOp onOp = nullptr,
                        GradientBuilder::StaysWhole staysWhole = nullptr);

} // namespace pcc::graph

#endif // PCC_DIALECTS_GRAPH_GRADIENTS_DIFFERENTIATE_H
