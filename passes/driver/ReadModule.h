//===- ReadModule.h - dumps and textual models, read and verified ---------===//

#ifndef PCC_PASSES_DRIVER_READMODULE_H
#define PCC_PASSES_DRIVER_READMODULE_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace pcc {

/// Parses and verifies the .mlir file at `path`. After an error, emits a
/// diagnostic at the faulty line of the file and returns null. Ops keep the
/// locations that are written in the file, usually names of ONNX nodes.
///
/// Every attribute of an op must belong to a registered dialect. Users edit
/// dumps, and an attribute with a misspelt prefix would have no effect.
mlir::OwningOpRef<mlir::ModuleOp> readModule(llvm::StringRef path,
                                             mlir::MLIRContext *context);

/// Parses the .mlir file at `path` without verifying it. Returns null if the
/// file cannot be parsed. Each op and each argument gets a combined location:
/// its line and column in the file, and the location that is written there.
mlir::OwningOpRef<mlir::ModuleOp> readPositions(llvm::StringRef path,
                                                mlir::MLIRContext *context);

} // namespace pcc

#endif // PCC_PASSES_DRIVER_READMODULE_H
