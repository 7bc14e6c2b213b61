//===- Import.h - import of an ONNX file as a module of graph ops ---------===//

#ifndef PCC_PASSES_1_IMPORT_IMPORT_H
#define PCC_PASSES_1_IMPORT_IMPORT_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "passes/1-import/build/ImportOptions.h"
#include "passes/1-import/build/UnsupportedOp.h"
#include "status/StatusOr.h"

namespace pcc {

/// Imports the ONNX file at `path` as a function @main and one
/// `graph.parameter` per weight. Does not read the bytes of large weights. Exit
/// codes are WrongUsage, CannotRead, Unsupported, UnboundDim, CannotMeet and
/// InputOutput. `unsupported`, if not null, receives the unsupported ops.
StatusOr<mlir::OwningOpRef<mlir::ModuleOp>>
importOnnx(llvm::StringRef path, const ImportOptions &options,
           mlir::MLIRContext *context,
           std::vector<UnsupportedOp> *unsupported = nullptr);

} // namespace pcc

#endif // PCC_PASSES_1_IMPORT_IMPORT_H
