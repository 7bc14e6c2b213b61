//===- Weights.h - initializers as graph parameters or constants ----------===//

#ifndef PCC_PASSES_1_IMPORT_BUILD_WEIGHTS_H
#define PCC_PASSES_1_IMPORT_BUILD_WEIGHTS_H

#include "mlir/IR/SymbolTable.h"
#include "passes/1-import/build/Emitter.h"
#include "passes/1-import/build/ImportOptions.h"
#include "passes/1-import/onnx/ExternalData.h"
#include "passes/1-import/onnx/model/Model.h"
#include "llvm/ADT/StringSet.h"

namespace pcc::onnx_import {

/// Returns the builtin type for the ONNX element type `type`. Signed integers
/// are signless, unsigned integers are unsigned, and booleans are i1. Returns
/// null for strings and for types that pcc lacks.
mlir::Type builtinType(onnx::DataType type, mlir::MLIRContext *context);

/// Turns tensors of a model into `graph.parameter` symbols, whose bytes are
/// never read, or into constants:
///
///   parameter  a float tensor with a dim and more than one element, and every
///              tensor with more than `foldLimit` elements, if a file holds the
///              elements in raw form; also every initializer that training writes
///   constant   all other tensors
class Weights {
public:
  /// Prepares the creation of parameters in `module`. `model` must outlive the
  /// object. The constructor notes which initializers the exporter calls
  /// buffers.
  Weights(const onnx::Model &model, const ImportOptions &options,
          mlir::ModuleOp module);

  /// Returns the canonical directory to which weight references are relative.
  const std::string &root() const { return data.root(); }

  /// Returns whether `tensor` becomes a parameter whose bytes are read from a
  /// file. Any other initializer that training writes becomes a parameter with
  /// a `fill` value.
  bool becomesParameter(const onnx::Tensor &tensor) const;
  /// Declares that training steps write the initializer `name`, so that its
  /// elements are not known during the import.
  void markWritten(llvm::StringRef name) { written.insert(name); }
  /// Creates the value of `tensor` at the insertion point of `emitter`. Returns
  /// null, with an error in `emitter`, on failure.
  mlir::Value make(const onnx::Tensor &tensor, Emitter &emitter);
  /// Returns the elements of `tensor`, read from its file if necessary. Returns
  /// null if training writes the tensor or if it has more than `foldLimit`
  /// elements. Also returns null, with an error in `emitter`, if the type is
  /// unsupported or the file cannot be read.
  mlir::DenseElementsAttr elements(const onnx::Tensor &tensor,
                                   Emitter &emitter);
  /// Creates the value of a tensor that an attribute of a node holds. Up to
  /// `foldLimit` elements make a constant, even of floats; a larger tensor is
  /// created as by `make`.
  mlir::Value makeConstantNode(const onnx::Tensor &tensor, Emitter &emitter);

private:
  /// Returns whether the type and the size of `tensor` are those of a weight
  /// rather than those of a constant.
  bool isWeight(const onnx::Tensor &tensor) const;
  /// Implements `elements`, but also reads tensors that training writes.
  mlir::DenseElementsAttr elementsOf(const onnx::Tensor &tensor,
                                     Emitter &emitter);
  /// Creates a parameter without a weight file, all of whose elements start as
  /// the single value that `tensor` holds everywhere. Null, with an error, if
  /// the elements of `tensor` differ.
  mlir::Value makeFilled(const onnx::Tensor &tensor,
                         mlir::RankedTensorType type, Emitter &emitter);
  /// Creates a parameter that refers to the bytes of `tensor` in its file. If
  /// the file is absent, and may be, the reference has an empty path.
  mlir::Value makeParameter(const onnx::Tensor &tensor,
                            mlir::RankedTensorType type, Emitter &emitter);
  /// Returns an unused symbol name for `tensor`: its name, or NAME.1, NAME.2, …
  /// if the name is taken. Branches and constants may repeat names.
  std::string symbolFor(const onnx::Tensor &tensor);
  /// Returns the type of `tensor`; null, with an error, if pcc lacks the
  /// element type or refuses the shape.
  mlir::RankedTensorType typeOf(const onnx::Tensor &tensor, Emitter &emitter);

  const onnx::Model &model;
  /// Locator of the bytes of tensors.
  onnx::ExternalData data;
  mlir::ModuleOp module;
  mlir::MLIRContext *context;
  /// Names of the weights that torch.export calls buffers, which are not
  /// trained.
  llvm::StringSet<> buffers;
  /// Names of the initializers that training steps write.
  llvm::StringSet<> written;
  /// Symbol names in use.
  llvm::StringSet<> symbols;
};

} // namespace pcc::onnx_import

#endif // PCC_PASSES_1_IMPORT_BUILD_WEIGHTS_H
