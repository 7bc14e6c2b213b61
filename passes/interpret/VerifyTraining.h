//===- VerifyTraining.h - steps of all ranks against the whole step -------===//

#ifndef PCC_PASSES_INTERPRET_VERIFYTRAINING_H
#define PCC_PASSES_INTERPRET_VERIFYTRAINING_H

#include "passes/interpret/compare/VerifyReport.h"
#include "passes/interpret/simulate/PipelineRun.h"

namespace pcc::interpret {

/// Whether a module in one function is a step of training.
bool isTraining(mlir::ModuleOp module);

/// Trains `whole`, which 2-prepare has passed, on one simulated device and
/// `parts`, which 6-schedule has passed, on all simulated ranks for so many
/// steps of the same inputs. Adds to the findings what every step returns, and
/// every parameter, and state of the optimizer, after the last one.
runtime::Status verifyTraining(mlir::ModuleOp whole, mlir::ModuleOp parts,
                               const Inputs &inputs, int numSteps,
                               Findings &findings);

} // namespace pcc::interpret

#endif // PCC_PASSES_INTERPRET_VERIFYTRAINING_H
