//===- VerifyAccuracy.h - check of ranks in the model's own types ---------===//

#ifndef PCC_PASSES_INTERPRET_VERIFYACCURACY_H
#define PCC_PASSES_INTERPRET_VERIFYACCURACY_H

#include "passes/interpret/compare/Accuracy.h"
#include "passes/interpret/elements/Inputs.h"
#include "status/StatusOr.h"

namespace pcc::interpret {

/// Executes the unpartitioned model `whole` in f64 and in its own types, and
/// `parts`, the module after phase 6-schedule, on simulated ranks in its own
/// types. In f64 ranks only add in another order, so that f64 hides where a
/// plan loses digits, as a difference of two large sums does. Returns the
/// errors of all outputs of floats and, for `numSteps` training steps, of the
/// parameters that the last step writes.
StatusOr<std::vector<AccurateValue>> verifyAccuracy(mlir::ModuleOp whole,
                                                    mlir::ModuleOp parts,
                                                    const Inputs &inputs,
                                                    int numSteps);

} // namespace pcc::interpret

#endif // PCC_PASSES_INTERPRET_VERIFYACCURACY_H
