//===- MeasureNoise.h - digits that depend on the order of additions ------===//

#ifndef PCC_PASSES_INTERPRET_MEASURENOISE_H
#define PCC_PASSES_INTERPRET_MEASURENOISE_H

#include "dialects/graph/reference/Evaluator.h"
#include "passes/interpret/elements/Inputs.h"
#include "status/StatusOr.h"
#include "llvm/ADT/StringMap.h"

namespace pcc::interpret {

/// Returns a name for an output of the model in one training step. Each step
/// computes all outputs again, so the outputs of two steps need different
/// names. `name` is the name of the output in the model. `step` is the number
/// of the step; the first step is step 1. `numSteps` is the number of all
/// steps.
///
/// Example: if `name` is "loss", `step` is 2 and `numSteps` is 3, the result is
/// "loss of step 2". If `numSteps` is 1, the result is `name` itself.
std::string nameInStep(llvm::StringRef name, int step, int numSteps);

/// Measures how much rounding errors can change the results of `whole`, the
/// unpartitioned model. Executes `whole` once without and ten times with random
/// rounding errors (see RandomRounding). Returns 20 times the largest change of
/// an element, for each output of each step (named by nameInStep()) and each
/// parameter after the last step. A partitioned model may differ by this
/// number. A relative tolerance is not enough: a gradient that is exactly 0 may
/// be computed as 1e-9 or as -3e-9. `numerics` is f64 or the element types of
/// the model. `numSteps` is 1 for inference.
StatusOr<llvm::StringMap<double>> measureNoise(mlir::ModuleOp whole,
                                               const Inputs &inputs,
                                               graph::Numerics numerics,
                                               int numSteps);

} // namespace pcc::interpret

#endif // PCC_PASSES_INTERPRET_MEASURENOISE_H
