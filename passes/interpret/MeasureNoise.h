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

/// Measures how much rounding errors can change the results of the
/// unpartitioned model `whole`. Returns a map from the name of a tensor to a
/// number. The caller uses the number to compare a partitioned model with the
/// unpartitioned model. An element of the tensor in the partitioned model
/// counts as equal if it differs from the same element in the unpartitioned
/// model by at most this number.
///
/// The ranks of a partitioned model add numbers in another order than the
/// unpartitioned model. The ranks therefore have other rounding errors. Some
/// tensors consist of rounding errors only. For example, the gradient of the
/// bias of attention keys is 0 in exact arithmetic. The unpartitioned model may
/// compute 1e-9, and the ranks may compute -3e-9. Both results are correct,
/// although their relative difference is large.
///
/// The function executes `whole` eleven times: once without random errors, and
/// then ten times with random errors. A random error is as large as a rounding
/// error. Random errors change the operands and results of ops that compute
/// sums, such as a matrix multiplication. The class RandomRounding describes
/// the random errors.
///
/// For each tensor, the function computes the differences between two
/// executions: one of the ten executions with random errors, and the execution
/// without random errors. It takes the largest difference of an element over
/// all ten executions. The number in the map is 20 times this difference.
///
/// Example: a loss is 5 in the execution without random errors. With random
/// errors, the loss is 5.01 in two executions, 4.98 in one execution, and 5 in
/// seven executions. The largest difference is 0.02, so the map contains 0.4
/// for the loss.
///
/// The parameters are:
///
///  - `inputs` contains the tensors of the model's inputs, by name.
///  - `numerics` is the precision of all eleven executions: f64 or the element
///    types of the model.
///  - `numSteps` is the number of training steps in each execution; 1 for
///    inference.
///
/// The map contains the outputs of each step, under the names that nameInStep()
/// returns. It also contains the parameters after the last step.
StatusOr<llvm::StringMap<double>> measureNoise(mlir::ModuleOp whole,
                                               const Inputs &inputs,
                                               graph::Numerics numerics,
                                               int numSteps);

} // namespace pcc::interpret

#endif // PCC_PASSES_INTERPRET_MEASURENOISE_H
