//===- VerifyAccuracy.h - check of ranks in the model's own types ---------===//

#ifndef PCC_PASSES_INTERPRET_VERIFYACCURACY_H
#define PCC_PASSES_INTERPRET_VERIFYACCURACY_H

#include "passes/interpret/compare/Accuracy.h"
#include "passes/interpret/elements/Inputs.h"
#include "status/StatusOr.h"

namespace pcc::interpret {

/// Compares the accuracy of a partitioned model with that of the unpartitioned
/// model. Executes `whole`, the unpartitioned model. Executes `parts`, the
/// partitioned model after 6-schedule, on simulated ranks. Both runs round each
/// op result to its element type, such as bf16. A third run executes `whole` in
/// f64.
///
/// Returns one entry for each float output of each step, and for each float
/// parameter after the last step. The entry has the errors of both rounded runs
/// relative to the run in f64. Elements that differ from the run in f64 by at
/// most noise[name] count as equal.
StatusOr<std::vector<AccurateValue>>
verifyAccuracy(mlir::ModuleOp whole, mlir::ModuleOp parts, const Inputs &inputs,
               int numSteps, const llvm::StringMap<double> &noise);

} // namespace pcc::interpret

#endif // PCC_PASSES_INTERPRET_VERIFYACCURACY_H
