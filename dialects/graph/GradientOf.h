//===- GradientOf.h - placeholders for gradients of ONNX TrainingInfo -----===//

#ifndef PCC_DIALECTS_GRAPH_GRADIENTOF_H
#define PCC_DIALECTS_GRAPH_GRADIENTOF_H

#include "llvm/ADT/StringRef.h"

namespace pcc::graph {

/// FlatSymbolRefAttr on a `graph.loss_gradient` that is a placeholder for the
/// gradient of the loss with respect to the named weight. The update that an
/// ONNX model brings along (TrainingInfo) reads placeholders through
/// `graph.accumulate`. `2-prepare` replaces them once it has built the backward
/// pass. Within `2-prepare`, the attribute also marks a function result that is
/// the gradient of the named weight.
inline constexpr llvm::StringLiteral gradientOfName = "graph.gradient_of";

} // namespace pcc::graph

#endif // PCC_DIALECTS_GRAPH_GRADIENTOF_H
