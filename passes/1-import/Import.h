//===- Import.h - import of an ONNX file as a module of graph ops ---------===//

#ifndef PCC_PASSES_1_IMPORT_IMPORT_H
#define PCC_PASSES_1_IMPORT_IMPORT_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "passes/1-import/build/ImportOptions.h"
#include "passes/1-import/build/UnsupportedOp.h"
#include "status/StatusOr.h"

namespace pcc {

/// Reads the ONNX file at `path` into a module with one `graph.parameter` per
/// weight that is used and a function @main:
///
///   module attributes {graph.bound_dims = {batch = 8}, graph.model = "m.onnx",
///                      graph.root = "/models"} {
///     graph.parameter @w : tensor<4x4xf32> = <"m.onnx", 96, 64, …>
///     func.func @main(%x: tensor<8x4xf32> {graph.name = "x",
///         graph.dims = ["batch", ""]}) -> (tensor<8x4xf32> {graph.name = "y"})
///
/// All shapes are static, and values that depend only on shapes are constants.
/// The op that computes a node's output has the output's name as `graph.name`
/// and the node's name as location. A parameter refers to a file, an offset and
/// a length in bytes. The import never reads the bytes of a weight.
///
/// The import loads the dialects that it needs into `context`. The module keeps
/// no reference to the model file. The function emits no diagnostic. An error
/// has one of these exit codes:
///
///   WrongUsage    options do not fit the model
///   CannotRead    the file is not a valid ONNX model
///   Unsupported   pcc does not support an op, an attribute of an op, or a type
///   UnboundDim    a dim has no size, or the sizes that the user gives lead to
///                 shapes that contradict each other
///   CannotMeet    a device annotation of the model cannot be satisfied
///   InputOutput   the operating system refuses an operation
///
/// `unsupported` may be null. Otherwise it becomes the list of all ops that pcc
/// does not support. The list stays empty if an input or an initializer is
/// unsupported.
StatusOr<mlir::OwningOpRef<mlir::ModuleOp>>
importOnnx(llvm::StringRef path, const ImportOptions &options,
           mlir::MLIRContext *context,
           std::vector<UnsupportedOp> *unsupported = nullptr);

} // namespace pcc

#endif // PCC_PASSES_1_IMPORT_IMPORT_H
