//===- MeasureNoise.h - digits that depend on the order of additions ------===//

#ifndef PCC_PASSES_INTERPRET_MEASURENOISE_H
#define PCC_PASSES_INTERPRET_MEASURENOISE_H

#include "dialects/graph/reference/Evaluator.h"
#include "passes/interpret/elements/Inputs.h"
#include "status/StatusOr.h"
#include "llvm/ADT/StringMap.h"

namespace pcc::interpret {

/// Returns the name of the value `name` in step `step` of a training run, such
/// as "loss of step 2". Returns `name` itself if `numSteps` is 1.
std::string nameInStep(llvm::StringRef name, int step, int numSteps);

/// Returns how far each value may differ from that of one rank because ranks
/// add in another order. The keys are the outputs of all steps (nameInStep) and
/// the parameters after the last step.
///
/// Some values are nothing but rounding errors, such as the gradient of a bias
/// of attention's keys, which is 0 in exact arithmetic. Therefore executes the
/// unpartitioned model `whole` several times with random rounding errors
/// (RandomRounding), and returns 20 times the largest difference of an element.
StatusOr<llvm::StringMap<double>> measureNoise(mlir::ModuleOp whole,
                                               const Inputs &inputs,
                                               graph::Numerics numerics,
                                               int numSteps);

} // namespace pcc::interpret

#endif // PCC_PASSES_INTERPRET_MEASURENOISE_H
