//===- InternalError.h - mistakes of pcc itself, told so that they can be mended ===//

#ifndef PCC_PASSES_DRIVER_INTERNALERROR_H
#define PCC_PASSES_DRIVER_INTERNALERROR_H

#include "mlir/IR/BuiltinOps.h"
#include "passes/Options.h"
#include "passes/Outcome.h"

namespace pcc {

/// Writes a module as a dump is written: it can be read back and compiled.
Outcome writeModule(mlir::ModuleOp module, const std::string &path);

/// The outcome (exit code 1) of a phase that broke its promise. `before`, the
/// module that the phase began with, is kept among temporary files as the
/// reproducer; before there is one, the model itself is.
Outcome reportInternalError(Phase phase, const std::string &what,
                            const CompileOptions &options,
                            mlir::ModuleOp before);

} // namespace pcc

#endif // PCC_PASSES_DRIVER_INTERNALERROR_H
