//===- Weights.h - initializers as graph parameters or constants ----------===//

#ifndef PCC_PASSES_1_IMPORT_BUILD_WEIGHTS_H
#define PCC_PASSES_1_IMPORT_BUILD_WEIGHTS_H

#include "mlir/IR/SymbolTable.h"
#include "passes/1-import/build/Emitter.h"
#include "passes/1-import/build/ImportOptions.h"
#include "passes/1-import/onnx/ExternalData.h"
#include "passes/1-import/onnx/model/Model.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringSet.h"

namespace pcc::onnx_import {

/// Returns the MLIR type for the ONNX element type `type`; null if pcc lacks
/// the type. INT32 becomes i32, UINT32 becomes ui32.
mlir::Type builtinType(onnx::DataType type, mlir::MLIRContext *context);

/// Returns the ONNX element type that corresponds to the MLIR type `type`. For
/// example, returns INT32 for i32 and UINT32 for ui32. Returns Undefined if no
/// ONNX type that pcc supports corresponds to `type`.
onnx::DataType dataTypeOf(mlir::Type type);

/// Turns each initializer or other tensor of an ONNX model into a
/// `graph.parameter` (weight) or a `graph.constant`. A tensor that training
/// changes is a weight. A tensor with two or more floating-point elements, or
/// with more than `foldLimit` elements of any type, is a weight if a file holds
/// its raw bytes.
class Weights {
public:
  /// Prepares to import the tensors of `model` into `module`. Reads the options
  /// externalDataRoot, allowAbsentWeights and trains. `model` must outlive the
  /// object.
  Weights(const onnx::Model &model, const ImportOptions &options,
          mlir::ModuleOp module);

  /// Returns the canonical path of the model's directory. The paths of weight
  /// files in the module are relative to it.
  const std::string &root() const { return data.root(); }

  mlir::MLIRContext *getContext() const { return context; }

  /// Returns whether make() creates a `graph.parameter` (weight) for `tensor`
  /// that refers to bytes in a file.
  bool becomesParameter(const onnx::Tensor &tensor) const;
  /// Records that training steps write the initializer `name`. Its elements
  /// then count as unknown during the import.
  void markWritten(llvm::StringRef name) { written.insert(name); }
  /// Imports `tensor` at the insertion point of `emitter`. Returns the SSA
  /// value of a `graph.constant`, or of a `graph.get_parameter` that reads a
  /// weight. The weight is declared in the module. Returns null, with an error
  /// in `emitter`, on failure.
  mlir::Value make(const onnx::Tensor &tensor, Emitter &emitter);
  /// Returns the elements of `tensor`, read from its file if necessary. Returns
  /// null without an error if training writes the tensor, or if it has more
  /// than `foldLimit` = 16384 elements. Returns null with an error in `emitter`
  /// if pcc lacks the element type or cannot read the file.
  mlir::DenseElementsAttr elements(const onnx::Tensor &tensor,
                                   Emitter &emitter);
  /// Imports `tensor`, an attribute of a node such as Constant. A tensor of at
  /// most `foldLimit` elements becomes a `graph.constant`. A larger tensor is
  /// imported by make(). Returns null, with an error in `emitter`, on failure.
  mlir::Value makeConstantNode(const onnx::Tensor &tensor, Emitter &emitter);

  /// Computes the elements of `value` before the first training step, from
  /// constants and from the initial values of weights with one element. Returns
  /// null if `value` depends on anything else, or on an op that pcc cannot
  /// fold.
  mlir::DenseElementsAttr initialElements(mlir::Value value) const;

private:
  /// Returns whether training may change `tensor`. The tensor must hold floats,
  /// must not be a buffer of torch.export, and must not be excluded by the
  /// user. If torch.export marks some weights as parameters, a tensor with one
  /// element must be marked, too. Returns false if `trains` is empty.
  bool isTrained(const onnx::Tensor &tensor) const;
  /// Returns whether `tensor` counts as a weight: it has more than `foldLimit`
  /// = 16384 elements, it has two or more elements of a floating-point type, or
  /// it has a single element that training may change.
  bool isWeight(const onnx::Tensor &tensor) const;
  /// Returns the elements of `tensor` as the model stores them, even if
  /// training writes it later. Returns null for more than `foldLimit` = 16384
  /// elements. Returns null, with an error in `emitter`, on failure.
  mlir::DenseElementsAttr elementsOf(const onnx::Tensor &tensor,
                                     Emitter &emitter);
  /// Creates a `graph.parameter` (weight) for `tensor`. The attribute `fill`
  /// holds the initial value of all elements. Returns the SSA value that reads
  /// the weight. If the elements are unknown or differ, records an error and
  /// returns null.
  mlir::Value makeFilled(const onnx::Tensor &tensor,
                         mlir::RankedTensorType type, Emitter &emitter);
  /// Creates a `graph.parameter` (weight) for `tensor`. The parameter stores
  /// the path of a file, and the offset and length of the tensor's bytes in
  /// that file. The option --random-weights permits that the file is missing.
  /// If the file is missing, the parameter stores an empty path. Returns the
  /// SSA value that reads the parameter. Returns null, with an error in
  /// `emitter`, on failure.
  mlir::Value makeParameter(const onnx::Tensor &tensor,
                            mlir::RankedTensorType type, Emitter &emitter);
  /// Creates a `graph.get_parameter`, which reads the weight with the symbol
  /// name `name`, and returns its result. Also stores the element of a
  /// one-element `tensor` in `initial`, unless the model's TrainingInfo writes
  /// the weight or the weight's file is missing.
  mlir::Value readOf(const onnx::Tensor &tensor, mlir::RankedTensorType type,
                     mlir::StringAttr name, Emitter &emitter);
  /// Returns a symbol name for `tensor` that the module does not use yet: its
  /// ONNX name or, if the module already uses this name, the first unused name
  /// of NAME.1, NAME.2 and so on.
  std::string symbolFor(const onnx::Tensor &tensor);
  /// Returns the tensor type of `tensor`. Returns null, with an error in
  /// `emitter`, if pcc lacks the element type or the shape is invalid.
  mlir::RankedTensorType typeOf(const onnx::Tensor &tensor, Emitter &emitter);

  const onnx::Model &model;
  /// Object that finds the file, offset and length of each tensor's bytes.
  onnx::ExternalData data;
  mlir::ModuleOp module;
  mlir::MLIRContext *context;
  /// Function that tells whether the user lets training change the weight of a
  /// given name. Empty if pcc compiles for inference, or if the model itself
  /// defines the training step (TrainingInfo).
  std::function<bool(llvm::StringRef)> trains;
  /// Names of the weights that torch.export calls buffers and parameters.
  /// Training does not change buffers.
  llvm::StringSet<> buffers, parameters;
  /// Names of the initializers that training steps write.
  llvm::StringSet<> written;
  /// Symbol names of all `graph.parameter` ops that this object has created. A
  /// `graph.parameter` is an op that declares a weight. No two of these ops may
  /// have the same symbol name.
  llvm::StringSet<> symbols;
  /// Initial elements of weights with exactly one element. The key is the
  /// result of the `graph.get_parameter` that reads the weight. A weight has no
  /// entry if the model's TrainingInfo writes it, or if its file is missing.
  llvm::DenseMap<mlir::Value, mlir::DenseElementsAttr> initial;
};

} // namespace pcc::onnx_import

#endif // PCC_PASSES_1_IMPORT_BUILD_WEIGHTS_H
