//===- TrainingInfoImport.h - import of a model's ONNX TrainingInfo -------===//

#ifndef PCC_PASSES_1_IMPORT_BUILD_TRAININGINFOIMPORT_H
#define PCC_PASSES_1_IMPORT_BUILD_TRAININGINFOIMPORT_H

#include "mlir/IR/BuiltinOps.h"
#include "passes/1-import/build/ValueTable.h"
#include "passes/1-import/onnx/model/Model.h"

namespace pcc::onnx_import {

/// Imports the training step that the ONNX TrainingInfo of a model describes:
/// the loss, the initial values of weights, and a `graph.set_parameter` for
/// each update of a weight. A later phase creates the gradients.
class TrainingInfoImport {
public:
  /// Prepares to import the first TrainingInfo of `model`. All arguments must
  /// outlive the object.
  TrainingInfoImport(const onnx::Model &model, ValueTable &values,
                     mlir::ModuleOp module)
      : model(model), info(model.training.front()), values(values),
        module(module) {}

  /// Tells `weights` which initializers the training step changes. `weights`
  /// then imports each of them as a `graph.parameter` instead of a constant.
  /// Must be called before `weights` imports the first initializer.
  void markWrittenWeights(Weights &weights) const;

  /// Returns the ONNX name of the loss, the value that all Gradient nodes
  /// differentiate. Records an error in `emitter` if there is not exactly one
  /// loss, or if the loss is not a single float.
  llvm::StringRef findLoss(Emitter &emitter) const;

  /// Imports the two lists of the TrainingInfo that assign values to weights.
  /// The list initialization_binding assigns initial values. The function
  /// stores them in the ops that declare the weights. The list update_binding
  /// assigns new values at the end of a training step. The function creates ops
  /// that write these values. `emitter` creates the ops and records errors.
  void makeWrites(Emitter &emitter) const;

private:
  /// Creates an op that writes the value `binding.value` to the weight
  /// `binding.key` at the end of a training step. Returns the SSA value of the
  /// new value. Returns null, with an error in `emitter`, on failure.
  mlir::Value write(const onnx::MetadataEntry &binding, Emitter &emitter) const;
  /// Makes the output `binding.value` of the TrainingInfo's graph
  /// `initialization` the initial value of the weight `binding.key`. All
  /// elements must be equal. Returns the SSA value of the output. Returns null,
  /// with an error in `emitter`, on failure.
  mlir::Value writeInitialValue(const onnx::MetadataEntry &binding,
                                Emitter &emitter) const;
  /// Returns the `graph.parameter` for the ONNX initializer `name`. A
  /// `graph.parameter` is an op that declares a weight. If `name` is not an
  /// initializer, or if the initializer is a constant and not a weight, records
  /// an error in `emitter` and returns null.
  graph::ParameterOp parameterOf(llvm::StringRef name, Emitter &emitter) const;

  const onnx::Model &model;
  /// The first TrainingInfo of `model`.
  const onnx::TrainingInfo &info;
  ValueTable &values;
  mlir::ModuleOp module;
};

} // namespace pcc::onnx_import

#endif // PCC_PASSES_1_IMPORT_BUILD_TRAININGINFOIMPORT_H
