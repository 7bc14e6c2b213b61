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

/// Returns a map from the name of a value to a number. An element of this value
/// counts as equal if it differs from the expected element by at most this
/// number. The map contains the outputs of the model in each of the `numSteps`
/// steps, under the names that nameInStep() returns. It also contains the
/// parameters after the last step.
///
/// The ranks of a partitioned model add numbers in another order than the
/// unpartitioned model. Their results therefore have other rounding errors.
/// Some values consist of rounding errors only, so the ranks and the
/// unpartitioned model compute quite different elements. Example: the gradient
/// of the bias of attention keys, which is 0 in exact arithmetic.
///
/// The function executes the unpartitioned model `whole` once as it is. It then
/// executes the model several times with random rounding errors (see
/// RandomRounding). For each value, it takes the largest difference of an
/// element between the first and a later execution. The number in the map is 20
/// times this difference. `numerics` is the precision of these executions: f64
/// or the element types of the model.
StatusOr<llvm::StringMap<double>> measureNoise(mlir::ModuleOp whole,
                                               const Inputs &inputs,
                                               graph::Numerics numerics,
                                               int numSteps);

} // namespace pcc::interpret

#endif // PCC_PASSES_INTERPRET_MEASURENOISE_H
