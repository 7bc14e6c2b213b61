//===- VerifyAccuracy.h - check of ranks in the model's own types ---------===//

#ifndef PCC_PASSES_INTERPRET_VERIFYACCURACY_H
#define PCC_PASSES_INTERPRET_VERIFYACCURACY_H

#include "passes/interpret/compare/Accuracy.h"
#include "passes/interpret/elements/Inputs.h"
#include "status/StatusOr.h"

namespace pcc::interpret {

/// Executes the unpartitioned model `whole`, and the partitioned model `parts`
/// (after 6-schedule) on simulated ranks. Rounds each op result to its element
/// type, such as bf16. Returns their errors against f64 for each float output
/// of each step, and each float parameter after the last step. Accepts
/// differences up to noise[name].
StatusOr<std::vector<AccurateValue>>
verifyAccuracy(mlir::ModuleOp whole, mlir::ModuleOp parts, const Inputs &inputs,
               int numSteps, const llvm::StringMap<double> &noise);

} // namespace pcc::interpret

#endif // PCC_PASSES_INTERPRET_VERIFYACCURACY_H
