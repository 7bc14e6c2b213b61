//===- MeasureNoise.h - digits that depend on the order of additions ------===//

#ifndef PCC_PASSES_INTERPRET_MEASURENOISE_H
#define PCC_PASSES_INTERPRET_MEASURENOISE_H

#include "dialects/graph/reference/Evaluator.h"
#include "passes/interpret/elements/Inputs.h"
#include "status/StatusOr.h"
#include "llvm/ADT/StringMap.h"

namespace pcc::interpret {

/// Returns a name for the model output `name` in the training step `step`, such
/// as "loss of step 2". The first step is 1. If `numSteps` is 1, returns `name`
/// itself.
std::string nameInStep(llvm::StringRef name, int step, int numSteps);

/// Measures by random rounding errors (see RandomRounding) how far an output or
/// a parameter of a partitioned model may differ from `whole`. Returns this
/// number for each output of each step (see nameInStep()) and each parameter. A
/// relative tolerance is not enough for a gradient that is exactly 0.
StatusOr<llvm::StringMap<double>> measureNoise(mlir::ModuleOp whole,
                                               const Inputs &inputs,
                                               graph::Numerics numerics,
                                               int numSteps);

} // namespace pcc::interpret

#endif // PCC_PASSES_INTERPRET_MEASURENOISE_H
