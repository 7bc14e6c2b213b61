//===- AnnotationImport.h - sharding annotations as IR --------------------===//

#ifndef PCC_PASSES_1_IMPORT_DEVICES_ANNOTATIONIMPORT_H
#define PCC_PASSES_1_IMPORT_DEVICES_ANNOTATIONIMPORT_H

#include "dialects/graph/SignatureAttrs.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/1-import/build/ValueTable.h"
#include "passes/1-import/devices/ShardingAnnotations.h"

namespace pcc::onnx_import {

/// Writes the shardings that a model's annotations request into the module
/// while the model's nodes are imported:
///
///   dist.pin       an op that fixes a value's sharding: after a node's result,
///                  or before a use that requests another sharding than the
///                  definition
///   dist.sharding  an attribute on inputs, outputs and weights
///
/// Every method that returns a Status returns an error if a requested sharding
/// cannot be satisfied.
class AnnotationImport {
public:
  /// Prepares the object. The pins are created at the insertion point of
  /// `builder`. All arguments must outlive the object.
  AnnotationImport(const ShardingAnnotations &annotations, ValueTable &values,
                   mlir::OpBuilder &builder)
      : annotations(annotations), values(values), builder(builder) {}

  /// Creates a `dist.pin` (an op that fixes a sharding) for each operand of
  /// `node` that does not have the sharding that the node's annotations
  /// request. Until pinResults is called, the operand's name stands for the
  /// pinned value. Must be called before `node` is imported.
  Status pinOperands(const onnx::Node &node, Emitter &emitter);
  /// Redefines the operand names that pinOperands has changed, so that they
  /// stand for the original values again. Then creates pins (ops that fix a
  /// sharding) for the results of `node`. Must be called after `node` is
  /// imported.
  Status pinResults(const onnx::Node &node);

  /// Sets `dist.sharding` on argument `input` of `function` in `attributes`, if
  /// the model requests a sharding for its input `name`.
  Status markInput(mlir::func::FuncOp function, unsigned input,
                   std::string_view name, graph::SignatureAttrs &attributes);
  /// Sets `dist.sharding` on result `output` of `function` in `attributes`, if
  /// the model requests a sharding for its output `name`.
  Status markOutput(mlir::func::FuncOp function, unsigned output,
                    std::string_view name, graph::SignatureAttrs &attributes);
  /// Sets `dist.sharding` on each parameter of `module` for which the model
  /// requests a sharding.
  Status markWeights(mlir::ModuleOp module);

private:
  /// Creates a pin (op that fixes a sharding) of the operand `name` for its use
  /// by `node`. The sharding of the pin is the one that the node requests. For
  /// a constant without that request, it is the one requested at the
  /// definition. Creates no pin without a request, or if the value has that
  /// sharding already.
  Status pinOperand(const onnx::Node &node, std::string_view name,
                    Emitter &emitter);
  /// Creates a pin (op that fixes a sharding) of the result `name` of `node`,
  /// if the model requests a sharding for it.
  Status pinResult(const onnx::Node &node, std::string_view name);
  /// Creates a `dist.pin` (op that fixes a sharding) of `value`, which the
  /// model calls `name`, at the location of `node`.
  mlir::Value pin(const onnx::Node &node, mlir::Value value,
                  std::string_view name, const dist::Sharding &sharding);

  const ShardingAnnotations &annotations;
  ValueTable &values;
  mlir::OpBuilder &builder;
  /// Operands of the current node that pinOperand has pinned (given a fixed
  /// sharding). Each entry is the ONNX name and the value before the pin, which
  /// pinResults restores.
  llvm::SmallVector<std::pair<std::string_view, mlir::Value>> unpinned;
};

} // namespace pcc::onnx_import

#endif // PCC_PASSES_1_IMPORT_DEVICES_ANNOTATIONIMPORT_H
