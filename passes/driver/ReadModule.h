//===- ReadModule.h - dumps and textual models, read and verified ---------===//

#ifndef PCC_PASSES_DRIVER_READMODULE_H
#define PCC_PASSES_DRIVER_READMODULE_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "status/Status.h"

namespace pcc {

/// Text of a .mlir file, and the file's path for messages.
struct ModuleText {
  std::string path;
  std::string text;
};

/// Returns an error with exit code 3 if `path` is a bundle, which `pcc run`
/// takes, and no model.
Status checkIsNoBundle(const std::string &path);

/// Reads the .mlir file at `path`. Stores the text of the .mlir file and `path`
/// in `file`. Errors:
///  - exit code 3: `path` is no regular file, the file has more than 2^32 - 1
///    bytes, or the file changes during the call;
///  - exit code 7: the system refuses access.
Status readModuleText(const std::string &path, ModuleText &file);

/// Parses and verifies the text of a .mlir file. Refuses attributes of
/// unregistered dialects, MLIR bytecode, and texts that crash MLIR's parser.
/// After an error, emits a diagnostic that names a line of the file, and
/// returns null. The text itself gives the locations of the ops, such as lines
/// of model.py. These are not the lines of the ops in the .mlir file.
mlir::OwningOpRef<mlir::ModuleOp> readModule(const ModuleText &file,
                                             mlir::MLIRContext *context);

/// Parses the text of a .mlir file without verifying it. Returns null on
/// failure. Returns a new module that contains the file's top-level ops. Each
/// op and block argument gets a fused location of two parts: its line and
/// column in the file, and the location that the text gives.
mlir::OwningOpRef<mlir::ModuleOp> readPositions(const ModuleText &file,
                                                mlir::MLIRContext *context);

} // namespace pcc

#endif // PCC_PASSES_DRIVER_READMODULE_H
