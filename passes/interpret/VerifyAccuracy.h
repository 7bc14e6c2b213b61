//===- VerifyAccuracy.h - check of ranks in the model's own types ---------===//

#ifndef PCC_PASSES_INTERPRET_VERIFYACCURACY_H
#define PCC_PASSES_INTERPRET_VERIFYACCURACY_H

#include "passes/interpret/compare/Accuracy.h"
#include "passes/interpret/elements/Inputs.h"
#include "status/StatusOr.h"

namespace pcc::interpret {

/// Measures how exact a partitioned model is. Executes three runs of `numSteps`
/// steps:
///  - `whole`, the unpartitioned model, in f64, as the reference;
///  - `whole` in the model's own types, such as bf16;
///  - `parts` (the module after phase 6-schedule) on simulated ranks in the
///    model's own types.
/// Returns the errors of the second and third run for every float output. After
/// training steps, also returns their errors for the final parameters.
StatusOr<std::vector<AccurateValue>> verifyAccuracy(mlir::ModuleOp whole,
                                                    mlir::ModuleOp parts,
                                                    const Inputs &inputs,
                                                    int numSteps);

} // namespace pcc::interpret

#endif // PCC_PASSES_INTERPRET_VERIFYACCURACY_H
