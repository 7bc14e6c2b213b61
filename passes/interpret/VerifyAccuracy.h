//===- VerifyAccuracy.h - check of ranks in the model's own types ---------===//

#ifndef PCC_PASSES_INTERPRET_VERIFYACCURACY_H
#define PCC_PASSES_INTERPRET_VERIFYACCURACY_H

#include "passes/interpret/compare/Accuracy.h"
#include "passes/interpret/elements/Inputs.h"
#include "status/StatusOr.h"

namespace pcc::interpret {

/// Measures the accuracy of a partitioned model. Executes each step three
/// times. A step is one training step or one inference. The three executions
/// are:
///
///  1. Execution of `whole`, the unpartitioned model, in f64.
///  2. Execution of `whole` with rounding: each op result is rounded to its
///     element type in the model, such as bf16.
///  3. Execution of `parts`, the partitioned model, on simulated ranks with the
///     same rounding as in execution 2. `parts` is the output of the compiler
///     phase 6-schedule.
///
/// Returns one entry for each output of each step, and one entry for each
/// parameter after the last training step. Outputs and parameters without float
/// elements have no entry. An entry contains two errors: the difference of
/// execution 2 from execution 1, and the difference of execution 3 from
/// execution 1.
///
///  - `inputs` contains the tensors of the model's inputs, by name.
///  - `numSteps` is the number of training steps; it is 1 for inference.
///  - `noise` contains differences that rounding can cause. A key is the name
///    of an output or parameter, such as "loss of step 2". If an element of
///    execution 3 differs from execution 1 by at most noise[key], the
///    difference counts as 0. `noise` may be empty.
StatusOr<std::vector<AccurateValue>>
verifyAccuracy(mlir::ModuleOp whole, mlir::ModuleOp parts, const Inputs &inputs,
               int numSteps, const llvm::StringMap<double> &noise);

} // namespace pcc::interpret

#endif // PCC_PASSES_INTERPRET_VERIFYACCURACY_H
