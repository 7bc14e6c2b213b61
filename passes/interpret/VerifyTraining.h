//===- VerifyTraining.h - check of partitioned training steps -------------===//

#ifndef PCC_PASSES_INTERPRET_VERIFYTRAINING_H
#define PCC_PASSES_INTERPRET_VERIFYTRAINING_H

#include "passes/interpret/compare/VerifyReport.h"
#include "passes/interpret/simulate/PipelineRun.h"

namespace pcc::interpret {

/// Returns whether `module` is a training step: its function @main writes
/// parameters.
bool isTraining(mlir::ModuleOp module);

/// Executes `numSteps` training steps of two modules:
///  - `whole`, the unpartitioned model after phase 2-prepare;
///  - `parts`, the model after phase 6-schedule, on simulated ranks.
/// All steps have the same inputs; each continues with the parameters of the
/// step before. `noise` has the differences that count as equal, by name
/// (MeasureNoise.h).
///
/// Appends comparisons to `findings.outputs`:
///  - the results of every step;
///  - every parameter and optimizer state after the last step.
/// Returns an error only if a module cannot be executed.
Status verifyTraining(mlir::ModuleOp whole, mlir::ModuleOp parts,
                      const Inputs &inputs, int numSteps,
                      const llvm::StringMap<double> &noise, Findings &findings);

} // namespace pcc::interpret

#endif // PCC_PASSES_INTERPRET_VERIFYTRAINING_H
