//===- TrainingInfoImport.h - the training that a model spells out --------===//

#ifndef PCC_PASSES_1_IMPORT_BUILD_TRAININGINFOIMPORT_H
#define PCC_PASSES_1_IMPORT_BUILD_TRAININGINFOIMPORT_H

#include "mlir/IR/BuiltinOps.h"
#include "passes/1-import/build/ValueTable.h"
#include "passes/1-import/onnx/model/Model.h"

namespace pcc::onnx_import {

/// What a model's TrainingInfo says, once its nodes are ops: what its Gradient
/// nodes differentiate is the loss, the only result of @main, and what is bound
/// to an initializer is written to it. The gradients themselves are left to
/// 2-prepare (graph::gradientOfName), which knows the ops that will run.
class TrainingInfoImport {
public:
  TrainingInfoImport(const onnx::Model &model, ValueTable &values,
                     mlir::ModuleOp module)
      : model(model), info(model.training.front()), values(values),
        module(module) {}

  /// Tells which initializers are written.
  void markWrittenWeights(Weights &weights) const;

  /// The name of the loss; a mistake of `emitter` if the model's Gradient nodes
  /// do not agree about it, or if it is not one number.
  llvm::StringRef findLoss(Emitter &emitter) const;

  /// Makes the writes at the insertion point.
  void makeWrites(Emitter &emitter) const;

private:
  mlir::Value write(const onnx::MetadataEntry &binding, Emitter &emitter) const;
  mlir::Value writeInitialValue(const onnx::MetadataEntry &binding,
                                Emitter &emitter) const;
  graph::ParameterOp parameterOf(llvm::StringRef name, Emitter &emitter) const;

  const onnx::Model &model;
  const onnx::TrainingInfo &info;
  ValueTable &values;
  mlir::ModuleOp module;
};

} // namespace pcc::onnx_import

#endif // PCC_PASSES_1_IMPORT_BUILD_TRAININGINFOIMPORT_H
