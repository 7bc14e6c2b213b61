//===- TrainingInfoImport.h - import of a model's ONNX TrainingInfo -------===//

#ifndef PCC_PASSES_1_IMPORT_BUILD_TRAININGINFOIMPORT_H
#define PCC_PASSES_1_IMPORT_BUILD_TRAININGINFOIMPORT_H

#include "mlir/IR/BuiltinOps.h"
#include "passes/1-import/build/ValueTable.h"
#include "passes/1-import/onnx/model/Model.h"

namespace pcc::onnx_import {

/// Turns the bindings of a model's TrainingInfo into results and weight updates
/// of @main, after the nodes have been imported. The value that the Gradient
/// nodes differentiate is the loss, which becomes the only result. Each update
/// binding becomes a `graph.set_parameter`. Phase 2-prepare builds the
/// gradients (graph::gradientOfName), because they depend on the ops that will
/// run.
class TrainingInfoImport {
public:
  /// Prepares the import of the first TrainingInfo of `model`, which must have
  /// one. All arguments must outlive the object.
  TrainingInfoImport(const onnx::Model &model, ValueTable &values,
                     mlir::ModuleOp module)
      : model(model), info(model.training.front()), values(values),
        module(module) {}

  /// Tells `weights` which initializers a training step writes, so that these
  /// initializers become parameters rather than constants. Must be called
  /// before the first initializer becomes a value.
  void markWrittenWeights(Weights &weights) const;

  /// Returns the name of the loss. An error of `emitter` results if the model
  /// has no Gradient node, if Gradient nodes differentiate different values, or
  /// if the loss is not a single float.
  llvm::StringRef findLoss(Emitter &emitter) const;

  /// Sets the initial values of the initialization bindings and creates the
  /// weight updates at the insertion point of `emitter`.
  void makeWrites(Emitter &emitter) const;

private:
  /// Creates the update of the parameter `binding.key` by the value
  /// `binding.value`. Returns that value; null after an error.
  mlir::Value write(const onnx::MetadataEntry &binding, Emitter &emitter) const;
  /// Makes the parameter `binding.key` start from the output `binding.value` of
  /// the initialization graph. The elements of that output must be known and
  /// equal. Returns the output; null after an error.
  mlir::Value writeInitialValue(const onnx::MetadataEntry &binding,
                                Emitter &emitter) const;
  /// Returns the parameter of the initializer `name`; null, with an error, if
  /// `name` is not an initializer that training writes.
  graph::ParameterOp parameterOf(llvm::StringRef name, Emitter &emitter) const;

  const onnx::Model &model;
  /// The first TrainingInfo of `model`.
  const onnx::TrainingInfo &info;
  ValueTable &values;
  mlir::ModuleOp module;
};

} // namespace pcc::onnx_import

#endif // PCC_PASSES_1_IMPORT_BUILD_TRAININGINFOIMPORT_H
