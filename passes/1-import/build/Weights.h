//===- Weights.h - initializers as weights or constants -------------------===//

#ifndef PCC_PASSES_1_IMPORT_BUILD_WEIGHTS_H
#define PCC_PASSES_1_IMPORT_BUILD_WEIGHTS_H

#include "mlir/IR/SymbolTable.h"
#include "passes/1-import/build/Emitter.h"
#include "passes/1-import/build/ImportOptions.h"
#include "passes/1-import/onnx/ExternalData.h"
#include "passes/1-import/onnx/model/Model.h"
#include "llvm/ADT/StringSet.h"

namespace pcc::onnx_import {

/// The builtin type of `type`: floats, signless signed integers, unsigned
/// integers and i1; null for strings and types that pcc lacks.
mlir::Type builtinType(onnx::DataType type, mlir::MLIRContext *context);

/// Turns tensors of a model into `graph.parameter` symbols, whose bytes are
/// never read, or constants.
///
///   weight    floats of rank 1 and more with more than one element, and
///             whatever has more than `foldLimit` elements
///   constant  the rest, and elements that the file holds in a decoded form
class Weights {
public:
  Weights(const onnx::Model &model, const ImportOptions &options,
          mlir::ModuleOp module);

  /// The canonical directory that references are relative to.
  const std::string &root() const { return data.root(); }

  /// Whether `make` gives a weight, and not a constant.
  bool becomesParameter(const onnx::Tensor &tensor) const;
  /// From here on `name` is no constant, as steps of training write it.
  void markWritten(llvm::StringRef name) { written.insert(name); }
  /// `tensor` as a value at the insertion point; null if that fails, which the
  /// emitter is told.
  mlir::Value make(const onnx::Tensor &tensor, Emitter &emitter);
  /// The elements of a tensor, read from its file if need be; null if it has
  /// more than `foldLimit` elements or is of a type that pcc lacks.
  mlir::DenseElementsAttr elements(const onnx::Tensor &tensor,
                                   Emitter &emitter);
  /// Attributes and initializers with at most this many elements that a
  /// `Constant` node holds are no weights.
  mlir::Value makeConstantNode(const onnx::Tensor &tensor, Emitter &emitter);

private:
  bool isWeight(const onnx::Tensor &tensor) const;
  mlir::DenseElementsAttr elementsOf(const onnx::Tensor &tensor,
                                     Emitter &emitter);
  mlir::Value makeFilled(const onnx::Tensor &tensor,
                         mlir::RankedTensorType type, Emitter &emitter);
  mlir::Value makeParameter(const onnx::Tensor &tensor,
                            mlir::RankedTensorType type, Emitter &emitter);
  /// The name of the tensor; with a number behind it if it is taken, as
  /// branches and constants may repeat names.
  std::string symbolFor(const onnx::Tensor &tensor);
  mlir::RankedTensorType typeOf(const onnx::Tensor &tensor, Emitter &emitter);

  const onnx::Model &model;
  onnx::ExternalData data;
  mlir::ModuleOp module;
  mlir::MLIRContext *context;
  /// Weights that the exporter calls buffers.
  llvm::StringSet<> buffers;
  /// Initializers that steps of training write.
  llvm::StringSet<> written;
  /// The symbols that were made.
  llvm::StringSet<> symbols;
};

} // namespace pcc::onnx_import

#endif // PCC_PASSES_1_IMPORT_BUILD_WEIGHTS_H
