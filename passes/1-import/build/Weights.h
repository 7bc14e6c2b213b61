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

/// Turns each initializer or other tensor of an ONNX model into one of two ops:
///
///   graph.parameter   a weight: a tensor of several floats, a tensor of more
///                     than `foldLimit` = 16384 elements, or a tensor that
///                     training changes
///   graph.constant    any other tensor
///
/// A parameter normally refers to raw bytes in a file.
class Weights {
public:
  /// Prepares to import the tensors of `model` into `module`. A tensor that is
  /// a weight becomes a `graph.parameter`, an op that declares a weight. The
  /// object reads three members of `options`:
  ///
  ///   externalDataRoot     directory with files that store weights
  ///   allowAbsentWeights   whether such a file may be missing
  ///   trains               function that tells which weights training may
  ///                        change
  ///
  /// `model` must outlive the object.
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
  /// Imports `tensor` and returns an SSA value with the elements of `tensor`.
  /// One of two ops defines the SSA value. The function creates this op at the
  /// insertion point of `emitter`:
  ///
  ///   graph.constant        contains the elements of `tensor`
  ///   graph.get_parameter   reads a weight. The function also adds the
  ///                         declaration of the weight, a `graph.parameter`, to
  ///                         the module.
  ///
  /// Returns null, with an error in `emitter`, on failure.
  mlir::Value make(const onnx::Tensor &tensor, Emitter &emitter);
  /// Returns the elements of `tensor`, read from its file if necessary. Returns
  /// null without an error if training writes the tensor, or if it has more
  /// than `foldLimit` = 16384 elements. Returns null with an error in `emitter`
  /// if pcc lacks the element type or cannot read the file.
  mlir::DenseElementsAttr elements(const onnx::Tensor &tensor,
                                   Emitter &emitter);
  /// Creates an SSA value with the elements of `tensor`, an attribute of a node
  /// such as Constant. A tensor of at most `foldLimit` = 16384 elements becomes
  /// a `graph.constant`. A larger tensor becomes a `graph.parameter` (weight)
  /// if a file holds the elements as raw bytes. Any other larger tensor becomes
  /// a `graph.constant`. Returns null, with an error in `emitter`, on failure.
  /// For example, the function fails if training changes a larger tensor
  /// without raw bytes.
  mlir::Value makeConstantNode(const onnx::Tensor &tensor, Emitter &emitter);

  /// Computes the elements that `value` has before the first training step,
  /// from constants and from the initial values of weights with one element.
  /// For example, if the weight `w` initially has the element 2,
  /// mul(w, constant 3) has the element 6.
  ///
  /// Returns null if `value` depends on an input of the model, on a weight with
  /// several elements, on a weight that the model's TrainingInfo writes, on a
  /// weight whose file is missing (--random-weights), or on an op that pcc
  /// cannot fold.
  mlir::DenseElementsAttr initialElements(mlir::Value value) const;

private:
  /// Returns whether training may change `tensor`. Returns true if all of these
  /// conditions are met:
  ///
  ///  - pcc compiles for training, and the ONNX model does not define the
  ///    training step itself (by a TrainingInfo).
  ///  - `tensor` has floats as elements, and has at least one element.
  ///  - The metadata that torch.export writes does not call `tensor` a buffer.
  ///  - `tensor` has several elements, or the metadata calls `tensor` a
  ///    parameter, or the metadata calls no tensor of the model a parameter.
  ///  - The user does not exclude `tensor` from training by the option --freeze
  ///    or --train-only.
  bool isTrained(const onnx::Tensor &tensor) const;
  /// Returns whether `tensor` counts as a weight: it has more than `foldLimit`
  /// = 16384 elements, it has several floats, or training may change it.
  bool isWeight(const onnx::Tensor &tensor) const;
  /// Returns the elements of `tensor` as the model stores them, even if
  /// training writes it later. Returns null for more than `foldLimit` = 16384
  /// elements. Returns null, with an error in `emitter`, on failure.
  mlir::DenseElementsAttr elementsOf(const onnx::Tensor &tensor,
                                     Emitter &emitter);
  /// Creates a `graph.parameter`, an op that declares a weight, for `tensor`.
  /// The op stores a single number in its attribute `fill`. This number is the
  /// initial value of all elements. `type` is the type of `tensor`. Returns an
  /// SSA value that reads the weight.
  ///
  /// If the elements of `tensor` are not all equal, a single number cannot
  /// represent them. The function then records an error in `emitter` and
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
  /// Creates a `graph.get_parameter` and returns its result. A
  /// `graph.get_parameter` is an op that reads a weight. `name` is the symbol
  /// name of the weight. `tensor` is the ONNX tensor from which the weight was
  /// created, and `type` is its type.
  ///
  /// If `tensor` has one element, the function also adds an entry to the map
  /// `initial`. The key of the entry is the result of the new op. The value of
  /// the entry is the element of `tensor`. The function adds no entry if a
  /// training step in the model writes `tensor`, or if the file with the bytes
  /// of `tensor` is missing.
  mlir::Value readOf(const onnx::Tensor &tensor, mlir::RankedTensorType type,
                     mlir::StringAttr name, Emitter &emitter);
  /// Returns a symbol name for `tensor` that the module does not use yet: its
  /// ONNX name, or NAME.1, NAME.2, … if that name is taken.
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
  /// Elements of weights before the first training step. Only a weight with
  /// exactly one element has an entry. The key of the entry is the result of
  /// the `graph.get_parameter` that reads the weight. For example, the weight
  /// "scale" has the single element 0.5, and `%s = graph.get_parameter @scale`
  /// reads it. The map then contains the key %s with the value 0.5.
  ///
  /// A weight has no entry if the TrainingInfo of the ONNX model changes the
  /// weight, or if the file with the bytes of the weight is missing.
  llvm::DenseMap<mlir::Value, mlir::DenseElementsAttr> initial;
};

} // namespace pcc::onnx_import

#endif // PCC_PASSES_1_IMPORT_BUILD_WEIGHTS_H
