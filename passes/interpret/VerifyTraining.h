//===- VerifyTraining.h - check of partitioned training steps -------------===//

#ifndef PCC_PASSES_INTERPRET_VERIFYTRAINING_H
#define PCC_PASSES_INTERPRET_VERIFYTRAINING_H

#include "passes/interpret/compare/VerifyReport.h"
#include "passes/interpret/simulate/PipelineRun.h"

namespace pcc::interpret {

/// Returns whether `module` is a training step: its function @main writes
/// parameters.
bool isTraining(mlir::ModuleOp module);

/// Executes `numSteps` training steps of two models, and compares their
/// results:
///
///  - `whole`, the unpartitioned model after the compiler phase 2-prepare
///  - `parts`, the partitioned model after phase 6-schedule, on simulated ranks
///
/// Each step has the same inputs, and starts with the parameters that the step
/// before has written. `noise` maps the name of a value to a number. If an
/// element of this value has a difference of at most this number, the element
/// counts as equal.
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
