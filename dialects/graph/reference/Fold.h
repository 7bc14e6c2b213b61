//===- Fold.h - graph ops on constants become constants -------------------===//

#ifndef PCC_DIALECTS_GRAPH_REFERENCE_FOLD_H
#define PCC_DIALECTS_GRAPH_REFERENCE_FOLD_H

#include "mlir/IR/DialectRegistry.h"
#include "mlir/IR/Operation.h"

namespace pcc::graph {

/// The most elements that an operand or result of a folded op may have: more
/// would move weights and activations into the program.
inline constexpr int64_t maxFoldedElements = 16384;

/// Whether `op` folds once all its operands are constants: it has a meaning, no
/// operand or result of more than maxFoldedElements, and is cheap.
bool isFoldable(mlir::Operation *op);

/// Lets every graph op that isFoldable fold when all its operands are
/// constants: `Operation::fold`, canonicalisation and `OpBuilder::createOrFold`
/// then evaluate it in the element types of the model.
void registerConstantFolding(mlir::DialectRegistry &registry);

} // namespace pcc::graph

#endif // PCC_DIALECTS_GRAPH_REFERENCE_FOLD_H
