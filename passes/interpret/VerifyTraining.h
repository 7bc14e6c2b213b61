//===- VerifyTraining.h - check of partitioned training steps -------------===//

#ifndef PCC_PASSES_INTERPRET_VERIFYTRAINING_H
#define PCC_PASSES_INTERPRET_VERIFYTRAINING_H

#include "passes/interpret/compare/VerifyReport.h"
#include "passes/interpret/simulate/PipelineRun.h"

namespace pcc::interpret {

/// Returns whether `module` is a training step: its function @main writes
/// parameters.
bool isTraining(mlir::ModuleOp module);

/// Executes `numSteps` training steps of `whole`, the unpartitioned output of
/// phase 2-prepare, and of `parts`, the output of phase 6-schedule, on
/// simulated ranks. Each step gets the same `inputs` and the parameters of the
/// previous step. Appends a comparison to `findings.outputs` for each output of
/// each step, and for each parameter and optimizer state after the last step.
/// An element counts as equal if its relative error is at most the tolerance
/// (1e-12 in f64, 1e-4 with rounding to f32), or if its difference is at most
/// noise[name], such as noise["loss of step 2"]. Returns an error only if a
/// model cannot be executed.
Status verifyTraining(mlir::ModuleOp whole, mlir::ModuleOp parts,
                      const Inputs &inputs, int numSteps,
                      const llvm::StringMap<double> &noise, Findings &findings);

} // namespace pcc::interpret

#endif // PCC_PASSES_INTERPRET_VERIFYTRAINING_H
