//===- Import.h - import of an ONNX file as a module of graph ops ---------===//

#ifndef PCC_PASSES_1_IMPORT_IMPORT_H
#define PCC_PASSES_1_IMPORT_IMPORT_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "passes/1-import/build/ImportOptions.h"
#include "passes/1-import/build/UnsupportedOp.h"
#include "status/StatusOr.h"

namespace pcc {

/// Imports the ONNX file at `path` as a module. All shapes of the module are
/// static. The module has a function @main, and one op `graph.parameter` for
/// each weight that @main uses. A `graph.parameter` states where the bytes of
/// the weight are: the file, the offset, the number of bytes, and the type of
/// the stored tensor. The import does not read the bytes of large weights.
/// Three of the module's attributes are:
///
///   graph.bound_dims   the sizes of the named dynamic dims
///   graph.model        the name of the ONNX file
///   graph.root         the directory of the weight files
///
/// Each argument of @main has these attributes:
///
///   graph.name   the name of the ONNX input
///   graph.dims   the name of each dim, or "" for a dim without a name
///
/// The following example uses --dim batch=8. The ONNX file /models/m.onnx has
/// an input x[batch, 4], an output y[batch, 4], and a weight `w` of 64 bytes at
/// the offset 96:
///
///   module attributes {graph.bound_dims = {batch = 8}, graph.model = "m.onnx",
///                      graph.root = "/models"} {
///     graph.parameter @w : tensor<4x4xf32> =
///         <"m.onnx", 96, 64, tensor<4x4xf32>>
///     func.func @main(%x: tensor<8x4xf32> {graph.name = "x",
///         graph.dims = ["batch", ""]}) -> (tensor<8x4xf32> {graph.name = "y"})
///
/// The MLIR location of an op in @main contains the name of the ONNX node for
/// which the import created the op. An op in @main may also have the attribute
/// `graph.name`. This attribute is the ONNX name of the value that the op
/// computes. An op has no `graph.name` in each of these cases:
///
///  - The value has no ONNX name.
///  - The op is a constant, or reads a weight.
///  - The op is a `dist.pin`, which fixes the sharding of a value.
///  - The op has several results.
///
/// An error has one of these exit codes of pcc:
///
///   WrongUsage    options do not fit the model
///   CannotRead    the file is not a valid ONNX model
///   Unsupported   pcc does not support an op, an attribute of an op, or a type
///   UnboundDim    a dim has no size, or sizes contradict each other
///   CannotMeet    the model requests an impossible sharding, mesh or pipeline
///                 stage
///   InputOutput   the operating system refuses an operation
///
/// `unsupported` may be null. Otherwise the import stores a list in
/// `unsupported`. The list has the ops of the model that pcc does not support.
/// The list is empty if the import succeeds. If the import cannot read the
/// file, `unsupported` does not change.
StatusOr<mlir::OwningOpRef<mlir::ModuleOp>>
importOnnx(llvm::StringRef path, const ImportOptions &options,
           mlir::MLIRContext *context,
           std::vector<UnsupportedOp> *unsupported = nullptr);

} // namespace pcc

#endif // PCC_PASSES_1_IMPORT_IMPORT_H
