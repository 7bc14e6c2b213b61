//===- Pipeline.h - pass pipelines of the phases --------------------------===//

#ifndef PCC_PASSES_PIPELINE_H
#define PCC_PASSES_PIPELINE_H

#include "mlir/Pass/PassManager.h"
#include "passes/Phase.h"
#include "status/Status.h"

namespace pcc {

/// Adds the passes of `phase` to `manager`, its verification gate last. Two
/// steps of a compilation are no passes: the import, which creates the module
/// from a file, and the writing of the bundle.
void addPhase(mlir::OpPassManager &manager, Phase phase);

/// Adds only the verification gate of `phase` to `manager`.
void addGate(mlir::OpPassManager &manager, Phase phase);

/// Returns pcc's exit code for a failure of the pass with the flag
/// `passArgument` in `phase`. It is 1 for a verification gate, which fails only
/// because of a defect of pcc, but 4 for `verify-imported`, which rejects
/// unsupported models. For other passes it is 6 (the request cannot be met),
/// but 4 in 1-import and 1 in 7-emit.
ExitCode exitCodeOf(Phase phase, llvm::StringRef passArgument);

} // namespace pcc

#endif // PCC_PASSES_PIPELINE_H
