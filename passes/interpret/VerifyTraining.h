//===- VerifyTraining.h - check of partitioned training steps -------------===//

#ifndef PCC_PASSES_INTERPRET_VERIFYTRAINING_H
#define PCC_PASSES_INTERPRET_VERIFYTRAINING_H

#include "passes/interpret/compare/VerifyReport.h"
#include "passes/interpret/simulate/PipelineRun.h"

namespace pcc::interpret {

/// Returns whether the unpartitioned model of `module`, function @main, is a
/// training step: it writes parameters.
bool isTraining(mlir::ModuleOp module);

/// Trains the unpartitioned model `whole` (after `2-prepare`) on one simulated
/// device and the partitioned model `parts` (after `6-schedule`) on simulated
/// ranks. Both execute `numSteps` steps on the same inputs; each step continues
/// with the parameters of the step before.
///
/// Adds comparisons to `findings.outputs`: the results of every step, then
/// every parameter and optimizer state after the last step. Returns an error if
/// a module cannot be executed; a difference is no error.
runtime::Status verifyTraining(mlir::ModuleOp whole, mlir::ModuleOp parts,
                               const Inputs &inputs, int numSteps,
                               Findings &findings);

} // namespace pcc::interpret

#endif // PCC_PASSES_INTERPRET_VERIFYTRAINING_H
