//===- StepCounter.h - parameter that counts training steps ---------------===//

#ifndef PCC_DIALECTS_GRAPH_STEPCOUNTER_H
#define PCC_DIALECTS_GRAPH_STEPCOUNTER_H

#include "llvm/ADT/StringRef.h"

namespace pcc::graph {

/// Symbol of the parameter, an i64, that counts the steps which have changed
/// the weights. Optimizers read it, and so does dropout, whose mask depends on
/// the step.
inline constexpr llvm::StringLiteral stepName = "pcc.step";

} // namespace pcc::graph

#endif // PCC_DIALECTS_GRAPH_STEPCOUNTER_H
