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

/// Adds only the verification gate of `phase`, the pass that checks the phase's
/// result, to `manager`.
void addGate(mlir::OpPassManager &manager, Phase phase);

/// Returns the exit code of pcc if a pass of `phase` fails. `passArgument` is
/// the flag of the pass. A gate is a pass that checks a phase's result.
///  - The gate `verify-imported`, or any other pass of 1-import: 4 (unsupported
///    model).
///  - Any other gate, or any pass of 7-emit: 1 (defect of pcc).
///  - Any other pass: 6 (the request cannot be met).
ExitCode exitCodeOf(Phase phase, llvm::StringRef passArgument);

} // namespace pcc

#endif // PCC_PASSES_PIPELINE_H
