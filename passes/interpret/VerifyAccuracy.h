//===- VerifyAccuracy.h - check of ranks in the model's own types ---------===//

#ifndef PCC_PASSES_INTERPRET_VERIFYACCURACY_H
#define PCC_PASSES_INTERPRET_VERIFYACCURACY_H

#include "passes/interpret/compare/Accuracy.h"
#include "passes/interpret/elements/Inputs.h"
#include "status/StatusOr.h"

namespace pcc::interpret {

/// Measures the accuracy of a partitioned model. Executes three models:
///
///  1. `whole`, the unpartitioned model, in f64.
///  2. `whole` again. Each result is rounded to its element type in the model,
///     such as bf16.
///  3. `parts`, the partitioned model after the compiler phase 6-schedule, on
///     simulated ranks. Each result is rounded to its element type.
///
/// Returns one entry per model output with float elements. An entry contains
/// the errors of the models 2 and 3. Both errors are differences from model 1.
///
/// `numSteps` is the number of training steps; it is 1 for inference. The
/// result has entries for the outputs of each step, and for the parameters
/// after the last step. `noise` maps the name of a value to a number. If an
/// element of this value has a difference of at most this number, the element
/// counts as equal.
StatusOr<std::vector<AccurateValue>>
verifyAccuracy(mlir::ModuleOp whole, mlir::ModuleOp parts, const Inputs &inputs,
               int numSteps, const llvm::StringMap<double> &noise);

} // namespace pcc::interpret

#endif // PCC_PASSES_INTERPRET_VERIFYACCURACY_H
