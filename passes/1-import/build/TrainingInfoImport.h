//===- TrainingInfoImport.h - import of a model's ONNX TrainingInfo -------===//

#ifndef PCC_PASSES_1_IMPORT_BUILD_TRAININGINFOIMPORT_H
#define PCC_PASSES_1_IMPORT_BUILD_TRAININGINFOIMPORT_H

#include "mlir/IR/BuiltinOps.h"
#include "passes/1-import/build/ValueTable.h"
#include "passes/1-import/onnx/model/Model.h"

namespace pcc::onnx_import {

/// Imports the training step that a model's ONNX TrainingInfo describes, after
/// the model's nodes have been imported:
///
///   loss             the value that the Gradient nodes differentiate; becomes
///                    the only result of @main
///   update_binding   pairs of an initializer and its new value; each becomes a
///                    `graph.set_parameter`
///
/// Gradients are created later: phase 2-prepare derives them from the ops that
/// will run.
class TrainingInfoImport {
public:
  /// Prepares the import of the first TrainingInfo of `model`, which must have
  /// one. All arguments must outlive the object.
  TrainingInfoImport(const onnx::Model &model, ValueTable &values,
                     mlir::ModuleOp module)
      : model(model), info(model.training.front()), values(values),
        module(module) {}

  /// Marks in `weights` the initializers that a training step writes: those
  /// that are keys of update_binding. These initializers become parameters even
  /// if they are small enough for constants. Must be called before any
  /// initializer gets an SSA value.
  void markWrittenWeights(Weights &weights) const;

  /// Returns the ONNX name of the loss, the value that all Gradient nodes
  /// differentiate. Records an error in `emitter` if there is no Gradient node,
  /// if Gradient nodes differentiate different values, or if the loss is not a
  /// single float.
  llvm::StringRef findLoss(Emitter &emitter) const;

  /// Sets the initial values that initialization_binding assigns to parameters.
  /// Then creates, at the insertion point of `emitter`, the weight updates that
  /// update_binding lists.
  void makeWrites(Emitter &emitter) const;

private:
  /// Creates the op that writes the value `binding.value` to the parameter
  /// `binding.key` at the end of a training step. Returns the written value;
  /// null after an error.
  mlir::Value write(const onnx::MetadataEntry &binding, Emitter &emitter) const;
  /// Sets the initial value of the parameter `binding.key` to the output
  /// `binding.value` of the initialization graph. The elements of that output
  /// must be known during the import and all be equal. Returns the output; null
  /// after an error.
  mlir::Value writeInitialValue(const onnx::MetadataEntry &binding,
                                Emitter &emitter) const;
  /// Returns the parameter that the initializer `name` has become. Records an
  /// error and returns null if `name` is not an initializer that training
  /// writes.
  graph::ParameterOp parameterOf(llvm::StringRef name, Emitter &emitter) const;

  const onnx::Model &model;
  /// The first TrainingInfo of `model`.
  const onnx::TrainingInfo &info;
  ValueTable &values;
  mlir::ModuleOp module;
};

} // namespace pcc::onnx_import

#endif // PCC_PASSES_1_IMPORT_BUILD_TRAININGINFOIMPORT_H
