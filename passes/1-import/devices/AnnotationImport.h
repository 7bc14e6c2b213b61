//===- AnnotationImport.h - sharding annotations as IR --------------------===//

#ifndef PCC_PASSES_1_IMPORT_DEVICES_ANNOTATIONIMPORT_H
#define PCC_PASSES_1_IMPORT_DEVICES_ANNOTATIONIMPORT_H

#include "dialects/graph/SignatureAttrs.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/1-import/build/ValueTable.h"
#include "passes/1-import/devices/ShardingAnnotations.h"

namespace pcc::onnx_import {

/// Writes the shardings from a model's annotations into the module. An input,
/// output or weight of the model gets the attribute `dist.sharding`. An operand
/// or result of a node gets a `dist.pin` (sharding constraint). A method
/// returns an error if a sharding is impossible.
class AnnotationImport {
public:
  /// Prepares to create `dist.pin` ops (sharding constraints) at the insertion
  /// point of `builder`. All arguments must outlive the object.
  AnnotationImport(const ShardingAnnotations &annotations, ValueTable &values,
                   mlir::OpBuilder &builder)
      : annotations(annotations), values(values), builder(builder) {}

  /// Creates a `dist.pin` (sharding constraint) for each operand of `node` that
  /// lacks the sharding from the model's annotations. Until pinResults(), the
  /// operand's ONNX name stands for the result of the `dist.pin`. Must be
  /// called before `node` is imported.
  Status pinOperands(const onnx::Node &node, Emitter &emitter);
  /// Undoes the effect of pinOperands() on the ONNX names of the operands of
  /// `node`: each name stands again for the value without `dist.pin` (sharding
  /// constraint), so that later nodes read this value. Then creates a
  /// `dist.pin` for each result of `node` for which the model's annotations
  /// give a sharding. Must be called after `node` is imported.
  Status pinResults(const onnx::Node &node);

  /// If the model's annotations give a sharding for the input `name`, stores it
  /// in `attributes`, as the attribute `dist.sharding` of argument number
  /// `input` of `function`. `attributes` is a copy of the attributes of all
  /// arguments and results of `function`. The caller must write this copy to
  /// `function` later.
  Status markInput(mlir::func::FuncOp function, unsigned input,
                   std::string_view name, graph::SignatureAttrs &attributes);
  /// If the model's annotations give a sharding for the output `name`, stores
  /// it in `attributes`, as the attribute `dist.sharding` of result number
  /// `output` of `function`. `attributes` is a copy of the attributes of all
  /// arguments and results of `function`. The caller must write this copy to
  /// `function` later.
  Status markOutput(mlir::func::FuncOp function, unsigned output,
                    std::string_view name, graph::SignatureAttrs &attributes);
  /// Sets `dist.sharding` on each parameter (weight) of `module` for which the
  /// model's annotations give a sharding.
  Status markWeights(mlir::ModuleOp module);

private:
  /// Creates a `dist.pin` (sharding constraint) for the operand `name` of
  /// `node`, if the model's annotations for `node` give this operand another
  /// sharding than the value already has.
  Status pinOperand(const onnx::Node &node, std::string_view name,
                    Emitter &emitter);
  /// Creates a `dist.pin` (sharding constraint), if the model's annotations
  /// give a sharding for the result `name` of `node`. Later nodes read the
  /// `dist.pin`. A constant whose annotations replicate it gets no `dist.pin`.
  Status pinResult(const onnx::Node &node, std::string_view name);
  /// Creates a `dist.pin` (sharding constraint) with the operand `value`, and
  /// returns its result. The result equals the operand and has the sharding
  /// `sharding`. The op also stores `name`, the ONNX name of `value`. The MLIR
  /// location of the op refers to `node`.
  mlir::Value pin(const onnx::Node &node, mlir::Value value,
                  std::string_view name, const dist::Sharding &sharding);

  const ShardingAnnotations &annotations;
  ValueTable &values;
  mlir::OpBuilder &builder;
  /// Operands of the current node for which pinOperands() has created a
  /// `dist.pin` (sharding constraint): the ONNX name, and the SSA value without
  /// the `dist.pin`. pinResults() restores these values for later nodes.
  llvm::SmallVector<std::pair<std::string_view, mlir::Value>> unpinned;
};

} // namespace pcc::onnx_import

#endif // PCC_PASSES_1_IMPORT_DEVICES_ANNOTATIONIMPORT_H
