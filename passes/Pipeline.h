//===- Pipeline.h - the passes of each phase ------------------------------===//

#ifndef PCC_PASSES_PIPELINE_H
#define PCC_PASSES_PIPELINE_H

#include "mlir/Pass/PassManager.h"
#include "passes/Phase.h"

namespace pcc {

/// Adds the passes of `phase`, its gate last. The import itself, which turns a
/// file into a module, and the writing of the bundle are no passes.
void addPhase(mlir::OpPassManager &manager, Phase phase);

/// The exit code of a failure of a pass of `phase`: gates only fail by a defect
/// of pcc.
int exitCodeOf(Phase phase, llvm::StringRef passArgument);

} // namespace pcc

#endif // PCC_PASSES_PIPELINE_H
