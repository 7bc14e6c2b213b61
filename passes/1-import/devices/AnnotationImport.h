//===- AnnotationImport.h - sharding annotations as IR --------------------===//

#ifndef PCC_PASSES_1_IMPORT_DEVICES_ANNOTATIONIMPORT_H
#define PCC_PASSES_1_IMPORT_DEVICES_ANNOTATIONIMPORT_H

#include "dialects/graph/SignatureAttrs.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/1-import/build/ValueTable.h"
#include "passes/1-import/devices/ShardingAnnotations.h"

namespace pcc::onnx_import {

/// Writes the shardings that a model's annotations request into the module:
///
///   dist.sharding  an attribute of inputs, outputs and weights
///   dist.pin       an op that fixes the sharding of a node's result, or of an
///                  operand for the one node that reads it
///
/// A method returns an error if a requested sharding is impossible.
class AnnotationImport {
public:
  /// Prepares to create `dist.pin` ops, which fix shardings, at the insertion
  /// point of `builder`. All arguments must outlive the object.
  AnnotationImport(const ShardingAnnotations &annotations, ValueTable &values,
                   mlir::OpBuilder &builder)
      : annotations(annotations), values(values), builder(builder) {}

  /// Creates a `dist.pin` (op that fixes a sharding) for each operand of `node`
  /// that does not have the requested sharding yet. The operand's ONNX name
  /// then stands for the pinned value. Must be called before `node` is
  /// imported.
  Status pinOperands(const onnx::Node &node, Emitter &emitter);
  /// Makes the ONNX names of the operands of `node` stand for the unpinned
  /// values again. Creates a `dist.pin` (op that fixes a sharding) for each
  /// result of `node` with a requested sharding. Must be called after `node` is
  /// imported.
  Status pinResults(const onnx::Node &node);

  /// Adds the sharding that the model requests for its input `name`, if any, to
  /// `attributes`.
  Status markInput(mlir::func::FuncOp function, unsigned input,
                   std::string_view name, graph::SignatureAttrs &attributes);
  /// Adds the sharding that the model requests for its output `name`, if any,
  /// to `attributes`.
  Status markOutput(mlir::func::FuncOp function, unsigned output,
                    std::string_view name, graph::SignatureAttrs &attributes);
  /// Sets `dist.sharding` on each parameter of `module` for which the model
  /// requests a sharding.
  Status markWeights(mlir::ModuleOp module);

private:
  /// Creates a pin (op that fixes a sharding) of the operand `name` of `node`
  /// if the operand does not have the requested sharding yet.
  Status pinOperand(const onnx::Node &node, std::string_view name,
                    Emitter &emitter);
  /// Creates a pin (op that fixes a sharding) of the result `name` of `node`,
  /// if the model requests a sharding for it.
  Status pinResult(const onnx::Node &node, std::string_view name);
  /// Creates a `dist.pin` (op that fixes a sharding) of `value`, which has the
  /// ONNX name `name`.
  mlir::Value pin(const onnx::Node &node, mlir::Value value,
                  std::string_view name, const dist::Sharding &sharding);

  const ShardingAnnotations &annotations;
  ValueTable &values;
  mlir::OpBuilder &builder;
  /// Pinned operands of the current node: the ONNX name, and the value before
  /// the pin (op that fixes a sharding).
  llvm::SmallVector<std::pair<std::string_view, mlir::Value>> unpinned;
};

} // namespace pcc::onnx_import

#endif // PCC_PASSES_1_IMPORT_DEVICES_ANNOTATIONIMPORT_H
