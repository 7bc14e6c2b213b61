//===- Differentiate.h - reverse-mode differentiation of a block ----------===//

#ifndef PCC_DIALECTS_GRAPH_GRADIENTS_DIFFERENTIATE_H
#define PCC_DIALECTS_GRAPH_GRADIENTS_DIFFERENTIATE_H

#include "dialects/graph/gradients/GradientBuilder.h"

namespace pcc::graph {

/// Builds the gradients of a loss with respect to the values `wanted`, one per
/// value and of its type. A null gradient means 0. `seed` is the gradient of
/// the loss with respect to `target`: 1 if `target` is the loss. New ops are
/// inserted in front of `before`. `target`, `wanted` and `before` must belong
/// to one block. `onOp` is called for each new op. `staysWhole` returns whether
/// the gradient of an attention op may use the fused gradient ops; null means
/// no. Emits an error and fails if an op has no gradient. The ops that have
/// been built so far then remain in the block.
Gradients differentiate(mlir::Value target, mlir::Value seed,
                        mlir::ValueRange wanted, mlir::Operation *before,
                        GradientBuilder::OnOp onOp = nullptr,
                        GradientBuilder::StaysWhole staysWhole = nullptr);

} // namespace pcc::graph

#endif // PCC_DIALECTS_GRAPH_GRADIENTS_DIFFERENTIATE_H
