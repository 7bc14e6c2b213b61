//===- TrainingInfoImport.h - import of a model's ONNX TrainingInfo -------===//

#ifndef PCC_PASSES_1_IMPORT_BUILD_TRAININGINFOIMPORT_H
#define PCC_PASSES_1_IMPORT_BUILD_TRAININGINFOIMPORT_H

#include "mlir/IR/BuiltinOps.h"
#include "passes/1-import/build/ValueTable.h"
#include "passes/1-import/onnx/model/Model.h"

namespace pcc::onnx_import {

/// Imports the training step that the ONNX TrainingInfo of a model describes:
///
///   initialization_binding   Each entry sets the initial value of a weight.
///   update_binding           Each entry becomes a `graph.set_parameter`, an op
///                            that writes a new value to a weight.
///   Gradient nodes           The value that these nodes differentiate, the
///                            loss, becomes the only result of @main.
///
/// A later phase, 2-prepare, creates the ops that compute the gradients.
class TrainingInfoImport {
public:
  /// Prepares to import the first TrainingInfo of `model`. All arguments must
  /// outlive the object.
  TrainingInfoImport(const onnx::Model &model, ValueTable &values,
                     mlir::ModuleOp module)
      : model(model), info(model.training.front()), values(values),
        module(module) {}

  /// Tells the object `weights` which ONNX initializers the training step
  /// changes. The list update_binding of the TrainingInfo contains the names of
  /// these initializers. The function calls weights.markWritten() with each
  /// name.
  ///
  /// The object `weights` imports an initializer either as a `graph.constant`
  /// or as a `graph.parameter`. A training step can change a `graph.parameter`,
  /// but not a `graph.constant`. After the call of this function, `weights`
  /// imports each initializer in the list as a `graph.parameter`. The function
  /// must be called before `weights` imports the first initializer.
  void markWrittenWeights(Weights &weights) const;

  /// Returns the ONNX name of the loss, the value that all Gradient nodes
  /// differentiate. Records an error in `emitter` if there is not exactly one
  /// loss, or if the loss is not a single float.
  llvm::StringRef findLoss(Emitter &emitter) const;

  /// Imports the two lists of the TrainingInfo that assign values to weights.
  /// Each entry of the list initialization_binding assigns an initial value to
  /// a weight. The function stores the initial value in the op that declares
  /// the weight. Each entry of the list update_binding assigns a new value to a
  /// weight at the end of a training step. The function creates an op that
  /// writes this value. `emitter` creates the ops and records errors.
  void makeWrites(Emitter &emitter) const;

private:
  /// Creates an op that writes a new value to a weight at the end of a training
  /// step. `binding` is one entry of the list update_binding of the ONNX
  /// TrainingInfo. The entry has two names:
  ///
  ///   binding.key     ONNX name of the weight
  ///   binding.value   ONNX name of the new value
  ///
  /// `emitter` creates the op and records errors. Returns the SSA value of the
  /// new value. Returns null after an error.
  mlir::Value write(const onnx::MetadataEntry &binding, Emitter &emitter) const;
  /// Imports `binding`, one entry of the list initialization_binding of the
  /// TrainingInfo. The TrainingInfo has a graph `initialization`, which
  /// computes initial values of weights. `binding.key` is the name of a weight,
  /// and `binding.value` is the name of an output of the graph
  /// `initialization`. The function makes this output the initial value of the
  /// weight. All elements of the output must be equal. Returns the SSA value of
  /// the output. Returns null after an error.
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
