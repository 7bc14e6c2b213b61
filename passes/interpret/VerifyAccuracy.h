//===- VerifyAccuracy.h - check of ranks in the model's own types ---------===//

#ifndef PCC_PASSES_INTERPRET_VERIFYACCURACY_H
#define PCC_PASSES_INTERPRET_VERIFYACCURACY_H

#include "passes/interpret/compare/Accuracy.h"
#include "passes/interpret/elements/Inputs.h"
#include "status/StatusOr.h"

namespace pcc::interpret {

/// Executes a model three times:
///  - the unpartitioned model `whole` in f64;
///  - `whole` in the model's own types;
///  - `parts` (after phase 6-schedule) on simulated ranks in the model's own
///    types.
/// Returns the errors against f64 of all float outputs. For `numSteps` training
/// steps, also returns those of the parameters after the last step. `noise` has
/// the differences that count as equal, by name (MeasureNoise.h).
StatusOr<std::vector<AccurateValue>>
verifyAccuracy(mlir::ModuleOp whole, mlir::ModuleOp parts, const Inputs &inputs,
               int numSteps, const llvm::StringMap<double> &noise);

} // namespace pcc::interpret

#endif // PCC_PASSES_INTERPRET_VERIFYACCURACY_H
