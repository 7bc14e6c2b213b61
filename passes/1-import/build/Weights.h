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

/// Returns the builtin type for the ONNX element type `type`: i1 for booleans,
/// signless integers for signed types such as INT32, and unsigned integers for
/// UINT32 and the like. Returns null for strings and for types that pcc lacks.
mlir::Type builtinType(onnx::DataType type, mlir::MLIRContext *context);

/// Turns initializers and other tensors of an ONNX model into `graph.parameter`
/// symbols or into constants:
///
///   parameter  a float tensor of several elements, and every tensor with more
///              than `foldLimit` elements, if a file holds the elements in raw
///              form; also every initializer that training changes
///   constant   all other tensors
///
/// The import never reads the bytes of a parameter that lies in a file.
class Weights {
public:
  /// Prepares the creation of parameters in `module`. Reads from the model's
  /// metadata which initializers torch.export calls buffers (not trained).
  /// `model` must outlive the object.
  Weights(const onnx::Model &model, const ImportOptions &options,
          mlir::ModuleOp module);

  /// Returns the canonical path of the directory to which the file names in
  /// weight references are relative.
  const std::string &root() const { return data.root(); }

  mlir::MLIRContext *getContext() const { return context; }

  /// Returns whether `tensor` becomes a parameter that refers to bytes in a
  /// file. Any other tensor becomes a constant or, if training changes it, a
  /// parameter with the attribute `fill`: one initial value for all elements.
  bool becomesParameter(const onnx::Tensor &tensor) const;
  /// Records that training steps write the initializer `name`. Its elements
  /// then count as unknown during the import.
  void markWritten(llvm::StringRef name) { written.insert(name); }
  /// Creates the SSA value of `tensor` (a constant, or the read of a new
  /// parameter) at the insertion point of `emitter`. Returns null, with an
  /// error in `emitter`, on failure.
  mlir::Value make(const onnx::Tensor &tensor, Emitter &emitter);
  /// Returns the elements of `tensor`, read from its file if necessary. Returns
  /// null in these cases:
  ///
  ///   no error             training writes the tensor, or it has more than
  ///                        `foldLimit` elements
  ///   error in `emitter`   pcc lacks the element type, or the file cannot be
  ///                        read
  mlir::DenseElementsAttr elements(const onnx::Tensor &tensor,
                                   Emitter &emitter);
  /// Creates the SSA value of a tensor that a node holds in an attribute. A
  /// tensor of up to `foldLimit` elements becomes a constant, even if its
  /// elements are floats. A larger tensor is passed to `make`.
  mlir::Value makeConstantNode(const onnx::Tensor &tensor, Emitter &emitter);

  /// Returns the elements of `value` if they follow from constants and from the
  /// initial values of weights of one element, such as a size that a model
  /// computes by a factor that it stores as a weight. Otherwise returns null.
  mlir::DenseElementsAttr initialElements(mlir::Value value) const;

private:
  /// Returns whether training changes `tensor`, if the loss depends on it: its
  /// elements are floats, and the user does not exclude its name. A single
  /// element must not be a constant of the exporter: in a model of
  /// torch.export, which names the model's parameters, it must be one of them.
  bool isTrained(const onnx::Tensor &tensor) const;
  /// Returns whether `tensor` is to be a parameter: it has more than
  /// `foldLimit` elements, it holds two or more floats, or training changes it.
  bool isWeight(const onnx::Tensor &tensor) const;
  /// Returns the elements of `tensor` as `elements` does, except that it also
  /// reads a tensor that training writes.
  mlir::DenseElementsAttr elementsOf(const onnx::Tensor &tensor,
                                     Emitter &emitter);
  /// Creates a parameter without bytes in a file, for a `tensor` whose elements
  /// are all equal: its `fill` attribute holds that element. Returns null, with
  /// an error, if the elements differ.
  mlir::Value makeFilled(const onnx::Tensor &tensor,
                         mlir::RankedTensorType type, Emitter &emitter);
  /// Creates a parameter that refers to the bytes of `tensor` in their file. If
  /// the file is missing and --random-weights allows that, the reference has an
  /// empty path.
  mlir::Value makeParameter(const onnx::Tensor &tensor,
                            mlir::RankedTensorType type, Emitter &emitter);
  /// Creates the read of the parameter `name`, which holds `tensor`. Records
  /// the initial value of a single element.
  mlir::Value readOf(const onnx::Tensor &tensor, mlir::RankedTensorType type,
                     mlir::StringAttr name, Emitter &emitter);
  /// Returns a symbol name for `tensor` that the module does not use yet: its
  /// ONNX name, or NAME.1, NAME.2, … if that name is taken. Branches of an If
  /// and Constant nodes may repeat names.
  std::string symbolFor(const onnx::Tensor &tensor);
  /// Returns the tensor type of `tensor`. Returns null, with an error in
  /// `emitter`, if pcc lacks the element type or the shape is invalid.
  mlir::RankedTensorType typeOf(const onnx::Tensor &tensor, Emitter &emitter);

  const onnx::Model &model;
  /// Object that finds the file, offset and length of each tensor's bytes.
  onnx::ExternalData data;
  mlir::ModuleOp module;
  mlir::MLIRContext *context;
  /// Returns whether training changes the float weight of a name; empty without
  /// training.
  std::function<bool(llvm::StringRef)> trains;
  /// Names of the weights that torch.export calls buffers and parameters.
  /// Training does not change buffers.
  llvm::StringSet<> buffers, parameters;
  /// Names of the initializers that training steps write.
  llvm::StringSet<> written;
  /// Names of the parameters created so far.
  llvm::StringSet<> symbols;
  /// Initial values of weights of one element, by the value of their read.
  llvm::DenseMap<mlir::Value, mlir::DenseElementsAttr> initial;
};

} // namespace pcc::onnx_import

#endif // PCC_PASSES_1_IMPORT_BUILD_WEIGHTS_H
