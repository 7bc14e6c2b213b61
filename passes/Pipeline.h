//===- Pipeline.h - pass pipelines of the phases --------------------------===//

#ifndef PCC_PASSES_PIPELINE_H
#define PCC_PASSES_PIPELINE_H

#include "mlir/Pass/PassManager.h"
#include "passes/Phase.h"
#include "status/Status.h"

namespace pcc {

/// Adds the passes of `phase` to `manager`. The last one is the verification
/// gate of the phase, a pass that checks the phase's result.
void addPhase(mlir::OpPassManager &manager, Phase phase);

/// Adds the passes of `phase` to `manager`, without the gate.
void addPasses(mlir::OpPassManager &manager, Phase phase);

/// Adds the gate of `phase` to `manager`. The gate of a phase is a pass that
/// checks the result of the phase. The function adds no other pass of the
/// phase.
void addGate(mlir::OpPassManager &manager, Phase phase);

/// Returns the exit code of pcc for a failed pass. `phase` is the phase of the
/// pass. `passArgument` is the name of the pass on the command line, such as
/// "cut-stages". Each phase has one gate, a pass that checks the result of the
/// phase. The name of a gate begins with "verify-". There are three exit codes:
///  - 4 (unsupported model): any pass of phase 1-import.
///  - 1 (defect of pcc): the gate of any other phase, or any pass of phase
///    7-emit.
///  - 6 (the request cannot be met): any pass of the phases 2-prepare to
///    6-schedule that is not a gate.
ExitCode exitCodeOf(Phase phase, llvm::StringRef passArgument);

} // namespace pcc

#endif // PCC_PASSES_PIPELINE_H
