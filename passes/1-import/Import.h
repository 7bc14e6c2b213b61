//===- Import.h - import of an ONNX file as a module of graph ops ---------===//

#ifndef PCC_PASSES_1_IMPORT_IMPORT_H
#define PCC_PASSES_1_IMPORT_IMPORT_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "passes/1-import/build/ImportOptions.h"
#include "passes/1-import/build/UnsupportedOp.h"
#include "status/StatusOr.h"

namespace pcc {

/// Imports the ONNX file at `path` as a module with static shapes: a function
/// @main, and one `graph.parameter` for each weight that @main uses. A
/// `graph.parameter` states the file and the offset of the weight. The import
/// does not read the bytes of large weights. The location of an op in @main
/// contains the name of its ONNX node. An error has the exit code WrongUsage,
/// CannotRead, Unsupported, UnboundDim, CannotMeet or InputOutput. If
/// `unsupported` is not null, the import stores the unsupported ops of the
/// model there. The list is empty on success, and stays unchanged if the file
/// cannot be read.
StatusOr<mlir::OwningOpRef<mlir::ModuleOp>>
importOnnx(llvm::StringRef path, const ImportOptions &options,
           mlir::MLIRContext *context,
           std::vector<UnsupportedOp> *unsupported = nullptr);

} // namespace pcc

#endif // PCC_PASSES_1_IMPORT_IMPORT_H
