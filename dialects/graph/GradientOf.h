//===- GradientOf.h - what stands for a gradient --------------------------===//

#ifndef PCC_DIALECTS_GRAPH_GRADIENTOF_H
#define PCC_DIALECTS_GRAPH_GRADIENTOF_H

#include "llvm/ADT/StringRef.h"

namespace pcc::graph {

/// On a graph.loss_gradient that stands for the gradient of the loss by a
/// weight until 2-prepare has built that: the weight. What a model says of its
/// own training reads it through graph.accumulate.
inline constexpr llvm::StringLiteral gradientOfName = "graph.gradient_of";

} // namespace pcc::graph

#endif // PCC_DIALECTS_GRAPH_GRADIENTOF_H
