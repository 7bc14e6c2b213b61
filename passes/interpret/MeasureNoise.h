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

/// Measures how far the results of a partitioned model may differ from those of
/// the model `whole`, only because sums are computed in another order. Executes
/// `whole` `numSamples` times with random rounding errors (see RandomRounding).
/// Returns the largest permitted difference for each output of each step (see
/// nameInStep()) and each parameter. A relative tolerance alone would permit no
/// difference for a gradient that is exactly 0. The permitted difference is
/// infinite if rounding errors alone make an element overflow, as in a training
/// that diverges.
StatusOr<llvm::StringMap<double>> measureNoise(mlir::ModuleOp whole,
                                               const Inputs &inputs,
                                               graph::Numerics numerics,
                                               int numSteps, int numSamples);

} // namespace pcc::interpret

#endif // PCC_PASSES_INTERPRET_MEASURENOISE_H
