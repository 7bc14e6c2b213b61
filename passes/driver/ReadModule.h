//===- ReadModule.h - dumps and textual models, read and verified ---------===//

#ifndef PCC_PASSES_DRIVER_READMODULE_H
#define PCC_PASSES_DRIVER_READMODULE_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "status/Status.h"

namespace pcc {

/// A text in MLIR's syntax, and the path of the file that has it. The path is
/// used in messages only.
struct ModuleText {
  std::string path;
  std::string text;
};

/// Reads the .mlir file at `path`. Returns exit code 3 if there is no such
/// file, if it is not a regular file, or if it changes meanwhile; 7 if the
/// system refuses access.
Status readModuleText(const std::string &path, ModuleText &file);

/// Parses and verifies the text of a .mlir file. Returns null after an error,
/// which is emitted at the line of the file. Ops keep the locations that the
/// file gives them, which are usually places in the model.
///
/// Every attribute of an op must belong to a registered dialect: users edit
/// dumps, and an attribute with a misspelt prefix would have no effect. Text
/// that is nested too deeply for the parser is an error, as is bytecode.
mlir::OwningOpRef<mlir::ModuleOp> readModule(const ModuleText &file,
                                             mlir::MLIRContext *context);

/// Parses the text of a .mlir file without verifying it. Returns a module that
/// contains what the file has at its top level. Each op and each argument has
/// its position in the file as location, together with the location that the
/// file gives it. Returns null if the file cannot be parsed.
mlir::OwningOpRef<mlir::ModuleOp> readPositions(const ModuleText &file,
                                                mlir::MLIRContext *context);

} // namespace pcc

#endif // PCC_PASSES_DRIVER_READMODULE_H
