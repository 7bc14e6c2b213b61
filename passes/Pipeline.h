//===- Pipeline.h - pass pipelines of the phases --------------------------===//

#ifndef PCC_PASSES_PIPELINE_H
#define PCC_PASSES_PIPELINE_H

#include "mlir/Pass/PassManager.h"
#include "passes/Phase.h"

namespace pcc {

/// Adds the passes of `phase`, with its gate last. Two steps are not passes:
/// the import, which creates the module from a file, and the writing of the
/// bundle.
void addPhase(mlir::OpPassManager &manager, Phase phase);

/// Returns the exit code for a failure of the pass with flag `passArgument` in
/// `phase`. A gate fails only through a defect of pcc, so its code is 1, except
/// for `verify-imported`, which rejects unsupported models with code 4. Other
/// passes fail with code 6, a request that cannot be met; those of 7-emit with
/// 1.
int exitCodeOf(Phase phase, llvm::StringRef passArgument);

} // namespace pcc

#endif // PCC_PASSES_PIPELINE_H
