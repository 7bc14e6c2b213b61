//===- Import.h - import of an ONNX file as a module of graph ops ---------===//

#ifndef PCC_PASSES_1_IMPORT_IMPORT_H
#define PCC_PASSES_1_IMPORT_IMPORT_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "passes/1-import/build/ImportOptions.h"
#include "passes/1-import/build/UnsupportedOp.h"
#include "status/StatusOr.h"

namespace pcc {

/// Imports the ONNX file at `path` as a module. The module has a function
/// @main, and one `graph.parameter` for each weight that @main uses. All shapes
/// are static. A parameter refers to bytes in a file; the bytes of large
/// weights are not read. An example with --dim batch=8 and with a weight of 64
/// bytes at offset 96 of the file /models/m.onnx:
///
///   module attributes {graph.bound_dims = {batch = 8}, graph.model = "m.onnx",
///                      graph.root = "/models"} {
///     graph.parameter @w : tensor<4x4xf32> = <"m.onnx", 96, 64, …>
///     func.func @main(%x: tensor<8x4xf32> {graph.name = "x",
///         graph.dims = ["batch", ""]}) -> (tensor<8x4xf32> {graph.name = "y"})
///
/// An op has the name of the node's output as `graph.name`, and the node's name
/// as location. An error has one of these exit codes:
///
///   WrongUsage    options do not fit the model
///   CannotRead    the file is not a valid ONNX model
///   Unsupported   pcc does not support an op, an attribute of an op, or a type
///   UnboundDim    a dim has no size, or sizes contradict each other
///   CannotMeet    a device annotation of the model cannot be satisfied
///   InputOutput   the operating system refuses an operation
///
/// If `unsupported` is not null, it becomes the list of ops that pcc does not
/// support.
StatusOr<mlir::OwningOpRef<mlir::ModuleOp>>
importOnnx(llvm::StringRef path, const ImportOptions &options,
           mlir::MLIRContext *context,
           std::vector<UnsupportedOp> *unsupported = nullptr);

} // namespace pcc

#endif // PCC_PASSES_1_IMPORT_IMPORT_H
