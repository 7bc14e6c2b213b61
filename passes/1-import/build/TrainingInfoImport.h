//===- TrainingInfoImport.h - import of a model's ONNX TrainingInfo -------===//

#ifndef PCC_PASSES_1_IMPORT_BUILD_TRAININGINFOIMPORT_H
#define PCC_PASSES_1_IMPORT_BUILD_TRAININGINFOIMPORT_H

#include "mlir/IR/BuiltinOps.h"
#include "passes/1-import/build/ValueTable.h"
#include "passes/1-import/onnx/model/Model.h"

namespace pcc::onnx_import {

/// Imports the training step of a model's ONNX TrainingInfo:
///
///   loss             becomes the only result of @main
///   update_binding   each entry becomes a `graph.set_parameter`, an op that
///                    writes a new value to a weight
///
/// Phase 2-prepare creates the gradients later.
class TrainingInfoImport {
public:
  /// Prepares to import the first TrainingInfo of `model`. All arguments must
  /// outlive the object.
  TrainingInfoImport(const onnx::Model &model, ValueTable &values,
                     mlir::ModuleOp module)
      : model(model), info(model.training.front()), values(values),
        module(module) {}

  /// Marks the weights that the training step writes (entries of
  /// update_binding). Even a small one then becomes a parameter instead of a
  /// constant. Must be called before any initializer gets an SSA value.
  void markWrittenWeights(Weights &weights) const;

  /// Returns the ONNX name of the loss, the value that all Gradient nodes
  /// differentiate. Records an error in `emitter` if there is not exactly one
  /// loss, or if the loss is not a single float.
  llvm::StringRef findLoss(Emitter &emitter) const;

  /// Sets the initial values of the weights in initialization_binding. Then
  /// creates the ops that write the weights in update_binding.
  void makeWrites(Emitter &emitter) const;

private:
  /// Imports one entry of the TrainingInfo's update_binding. Creates the op
  /// that writes the value `binding.value` to the weight `binding.key`. Returns
  /// the written value; null after an error.
  mlir::Value write(const onnx::MetadataEntry &binding, Emitter &emitter) const;
  /// Imports one entry of the TrainingInfo's initialization_binding. Sets the
  /// initial value of the weight `binding.key` to `binding.value`, an output of
  /// the initialization graph. All elements of this output must be equal.
  /// Returns the output; null after an error.
  mlir::Value writeInitialValue(const onnx::MetadataEntry &binding,
                                Emitter &emitter) const;
  /// Returns the parameter of the initializer `name`. Records an error and
  /// returns null if there is none.
  graph::ParameterOp parameterOf(llvm::StringRef name, Emitter &emitter) const;

  const onnx::Model &model;
  /// The first TrainingInfo of `model`.
  const onnx::TrainingInfo &info;
  ValueTable &values;
  mlir::ModuleOp module;
};

} // namespace pcc::onnx_import

#endif // PCC_PASSES_1_IMPORT_BUILD_TRAININGINFOIMPORT_H
