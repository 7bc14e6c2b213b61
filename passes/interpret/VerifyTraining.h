//===- VerifyTraining.h - check of partitioned training steps -------------===//

#ifndef PCC_PASSES_INTERPRET_VERIFYTRAINING_H
#define PCC_PASSES_INTERPRET_VERIFYTRAINING_H

#include "passes/interpret/compare/VerifyReport.h"
#include "passes/interpret/simulate/PipelineRun.h"

namespace pcc::interpret {

/// Returns whether `module` is a training step: its function @main writes
/// parameters.
bool isTraining(mlir::ModuleOp module);

/// Executes `numSteps` training steps of two models, and compares the results
/// of both models. The models are:
///
///  - `whole`, the unpartitioned model. It is the output of the compiler phase
///    2-prepare.
///  - `parts`, the partitioned model on simulated ranks. It is the output of
///    the compiler phase 6-schedule.
///
/// Each step has the same inputs, and starts with the parameters that the step
/// before has written. `inputs` contains the tensors of the inputs, by name.
///
/// An element of a result counts as equal in two cases:
///
///  - The relative error of the element is at most the tolerance. If both
///    models are executed in f64, the tolerance is 1e-12. If each op result is
///    rounded to its element type, the tolerance depends on this type, such as
///    1e-4 for f32.
///  - The element of `parts` differs from the element of `whole` by at most
///    noise[name]. `name` is the name of the result, such as "loss of step 2".
///    `noise` may be empty.
///
/// Appends one comparison to `findings.outputs` for each output of each step,
/// and one for each parameter and each optimizer state after the last step. If
/// results differ, the function still returns success. It returns an error only
/// if a model cannot be executed.
Status verifyTraining(mlir::ModuleOp whole, mlir::ModuleOp parts,
                      const Inputs &inputs, int numSteps,
                      const llvm::StringMap<double> &noise, Findings &findings);

} // namespace pcc::interpret

#endif // PCC_PASSES_INTERPRET_VERIFYTRAINING_H
