//===- Pipeline.h - pass pipelines of the phases --------------------------===//

#ifndef PCC_PASSES_PIPELINE_H
#define PCC_PASSES_PIPELINE_H

#include "mlir/Pass/PassManager.h"
#include "passes/Phase.h"
#include "status/Status.h"

namespace pcc {

/// Adds all passes of `phase` to `manager`. The last pass is the gate of the
/// phase: a pass that checks the result of the phase.
void addPhase(mlir::OpPassManager &manager, Phase phase);

/// Adds all passes of `phase` to `manager`, except the gate of the phase. The
/// gate is the last pass, which checks the result of the phase.
void addPasses(mlir::OpPassManager &manager, Phase phase);

/// Adds the gate of `phase` to `manager`. The gate of a phase is a pass that
/// checks the result of the phase. The function adds no other pass of the
/// phase.
void addGate(mlir::OpPassManager &manager, Phase phase);

/// Returns the exit code of pcc after the pass `passArgument`, such as
/// "cut-stages", fails in `phase`: 4 (unsupported model) in 1-import, and 1
/// (defect of pcc) in 7-emit. In the phases between: 1 for a verification pass
/// (the name begins with "verify-"), and 6 (the user's options cannot be met)
/// for other passes.
ExitCode exitCodeOf(Phase phase, llvm::StringRef passArgument);

} // namespace pcc

#endif // PCC_PASSES_PIPELINE_H
