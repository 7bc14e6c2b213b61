//===- StepCounter.h - the parameter that counts steps of training --------===//

#ifndef PCC_DIALECTS_GRAPH_STEPCOUNTER_H
#define PCC_DIALECTS_GRAPH_STEPCOUNTER_H

#include "llvm/ADT/StringRef.h"

namespace pcc::graph {

/// An i64: how many steps have changed the weights. What a model drops in a
/// step depends on it, too.
inline constexpr llvm::StringLiteral stepName = "pcc.step";

} // namespace pcc::graph

#endif // PCC_DIALECTS_GRAPH_STEPCOUNTER_H
