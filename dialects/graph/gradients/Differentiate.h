//===- Differentiate.h - the gradients of a value -------------------------===//

#ifndef PCC_DIALECTS_GRAPH_GRADIENTS_DIFFERENTIATE_H
#define PCC_DIALECTS_GRAPH_GRADIENTS_DIFFERENTIATE_H

#include "dialects/graph/gradients/GradientBuilder.h"

namespace pcc::graph {

/// Builds, in front of `before`, the gradients with respect to `wanted` of a
/// loss whose gradient with respect to `target` is `seed` (of the type of
/// `target`; 1 where the target is the loss itself). One value per wanted one,
/// of its type; null where nothing flows.
///
/// `target`, `wanted` and `before` are of one block, whose ops between them are
/// visited in reverse order: only those that lie on a way of floats from a
/// wanted value to the target. Where a value has several users its gradients
/// are added in the reverse order of these, at the earlier user. `onOp`, if
/// there is one, is told each new op and the op whose gradient it is part of;
/// `staysWhole`, if there is one, is asked of ops whose gradient can be one op.
///
/// Fails, with an error at its location, where an op on such a way has no
/// gradient.
Gradients differentiate(mlir::Value target, mlir::Value seed,
                        mlir::ValueRange wanted, mlir::Operation *before,
                        GradientBuilder::OnOp onOp = nullptr,
                        GradientBuilder::StaysWhole staysWhole = nullptr);

} // namespace pcc::graph

#endif // PCC_DIALECTS_GRAPH_GRADIENTS_DIFFERENTIATE_H
