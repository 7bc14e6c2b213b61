//===- ReadModule.h - dumps and textual models, read and verified ---------===//

#ifndef PCC_PASSES_DRIVER_READMODULE_H
#define PCC_PASSES_DRIVER_READMODULE_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace pcc {

/// Parses and verifies the .mlir file at `path`. Returns null after an error,
/// which is emitted at the line of the file. Ops keep the locations that the
/// file gives them, which are usually places in the model.
///
/// Every attribute of an op must belong to a registered dialect: users edit
/// dumps, and an attribute with a misspelt prefix would have no effect.
mlir::OwningOpRef<mlir::ModuleOp> readModule(llvm::StringRef path,
                                             mlir::MLIRContext *context);

/// Parses the .mlir file at `path` without verifying it. Returns a module that
/// contains what the file has at its top level. Each op and each argument has
/// its position in the file as location, together with the location that the
/// file gives it. Returns null if the file cannot be parsed.
mlir::OwningOpRef<mlir::ModuleOp> readPositions(llvm::StringRef path,
                                                mlir::MLIRContext *context);

} // namespace pcc

#endif // PCC_PASSES_DRIVER_READMODULE_H
