//===- VerifyTraining.h - check of partitioned training steps -------------===//

#ifndef PCC_PASSES_INTERPRET_VERIFYTRAINING_H
#define PCC_PASSES_INTERPRET_VERIFYTRAINING_H

#include "passes/interpret/compare/VerifyReport.h"
#include "passes/interpret/simulate/PipelineRun.h"

namespace pcc::interpret {

/// Returns whether `module` is a training step: its function @main writes
/// parameters.
bool isTraining(mlir::ModuleOp module);

/// Executes `numSteps` training steps of the unpartitioned model `whole` (after
/// 2-prepare), and of the partitioned model `parts` (after 6-schedule) on
/// simulated ranks, with equal `inputs`. Appends a comparison to
/// `findings.outputs` for each output of each step, and each parameter after
/// the last step. noise[name] is the difference that rounding errors alone can
/// cause in the output or parameter `name`; elements that differ by at most
/// this number count as equal.
Status verifyTraining(mlir::ModuleOp whole, mlir::ModuleOp parts,
                      const Inputs &inputs, int numSteps,
                      const llvm::StringMap<double> &noise, Findings &findings);

} // namespace pcc::interpret

#endif // PCC_PASSES_INTERPRET_VERIFYTRAINING_H
