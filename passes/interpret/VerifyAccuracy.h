//===- VerifyAccuracy.h - check of ranks in the model's own types ---------===//

#ifndef PCC_PASSES_INTERPRET_VERIFYACCURACY_H
#define PCC_PASSES_INTERPRET_VERIFYACCURACY_H

#include "passes/interpret/compare/Accuracy.h"
#include "passes/interpret/elements/Inputs.h"
#include "status/StatusOr.h"

namespace pcc::interpret {

/// Measures the accuracy of `parts`, the output of phase 6-schedule, on
/// simulated ranks. Executes `numSteps` steps (1 for inference) of `whole`, the
/// unpartitioned model, in f64. Executes the steps of both models again with
/// each op result rounded to its element type, such as bf16. Returns one entry
/// for each output of each step, and for each parameter after the last training
/// step, if it has float elements. An entry contains the errors of both rounded
/// models against f64. A difference in `parts` of at most noise[name], such as
/// noise["loss of step 2"], counts as 0.
StatusOr<std::vector<AccurateValue>>
verifyAccuracy(mlir::ModuleOp whole, mlir::ModuleOp parts, const Inputs &inputs,
               int numSteps, const llvm::StringMap<double> &noise);

} // namespace pcc::interpret

#endif // PCC_PASSES_INTERPRET_VERIFYACCURACY_H
