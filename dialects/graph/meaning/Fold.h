//===- Fold.h - graph ops on constants become constants -------------------===//

#ifndef PCC_DIALECTS_GRAPH_MEANING_FOLD_H
#define PCC_DIALECTS_GRAPH_MEANING_FOLD_H

#include "mlir/IR/DialectRegistry.h"

namespace pcc::graph {

/// The most elements that an operand or result of a folded op may have: more
/// would move weights and activations into the program.
inline constexpr int64_t maxFoldedElements = 16384;

/// Lets every graph op with a meaning fold when all its operands are constants
/// of at most maxFoldedElements and little is to be computed:
/// `Operation::fold`, canonicalisation and `OpBuilder::createOrFold` then
/// evaluate it in the element types of the model.
void registerMeaning(mlir::DialectRegistry &registry);

} // namespace pcc::graph

#endif // PCC_DIALECTS_GRAPH_MEANING_FOLD_H
