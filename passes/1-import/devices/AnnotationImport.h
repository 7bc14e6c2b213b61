//===- AnnotationImport.h - sharding annotations as IR --------------------===//

#ifndef PCC_PASSES_1_IMPORT_DEVICES_ANNOTATIONIMPORT_H
#define PCC_PASSES_1_IMPORT_DEVICES_ANNOTATIONIMPORT_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/1-import/build/ValueTable.h"
#include "passes/1-import/devices/ShardingAnnotations.h"

namespace pcc::onnx_import {

/// Writes the shardings that annotations request into the module while its
/// nodes are imported:
///
///   dist.pin       after a node's result, or before a use that requests another
///                  sharding than the definition
///   dist.sharding  on inputs, outputs and weights
///
/// Every method returns false, with `error` filled, if an annotation cannot be
/// met.
class AnnotationImport {
public:
  /// Prepares the annotation of the ops that `builder` inserts. All arguments
  /// must outlive the object.
  AnnotationImport(const ShardingAnnotations &annotations, ValueTable &values,
                   mlir::OpBuilder &builder, ImportError &error)
      : annotations(annotations), values(values), builder(builder),
        error(error) {}

  /// Makes the names of the operands of `node` stand for pinned values, where
  /// the node requests shardings. Must be called before `node` is imported.
  bool pinOperands(const onnx::Node &node, Emitter &emitter);
  /// Restores the names that pinOperands changed and pins the results of
  /// `node`. Must be called after `node` is imported.
  bool pinResults(const onnx::Node &node);

  /// Sets `dist.sharding` on argument `input` of `function`, which is the
  /// model's input `name`, if a sharding is requested.
  bool markInput(mlir::func::FuncOp function, unsigned input,
                 std::string_view name);
  /// Sets `dist.sharding` on result `output` of `function`, which is the
  /// model's output `name`, if a sharding is requested.
  bool markOutput(mlir::func::FuncOp function, unsigned output,
                  std::string_view name);
  /// Sets `dist.sharding` on the parameters of `module` for which a sharding is
  /// requested.
  bool markWeights(mlir::ModuleOp module);

private:
  /// Pins the operand `name` for its use by `node`, unless the value already
  /// has the requested sharding where it is defined.
  bool pinOperand(const onnx::Node &node, std::string_view name,
                  Emitter &emitter);
  /// Pins the result `name` of `node`, if a sharding is requested.
  bool pinResult(const onnx::Node &node, std::string_view name);
  /// Creates a `dist.pin` of `value` at the location of `node`.
  mlir::Value pin(const onnx::Node &node, mlir::Value value,
                  std::string_view name, const dist::Sharding &sharding);

  const ShardingAnnotations &annotations;
  ValueTable &values;
  mlir::OpBuilder &builder;
  ImportError &error;
  /// Operands of the current node that are pinned for its use: the name and the
  /// value that the name stands for in other nodes.
  llvm::SmallVector<std::pair<std::string_view, mlir::Value>> unpinned;
};

} // namespace pcc::onnx_import

#endif // PCC_PASSES_1_IMPORT_DEVICES_ANNOTATIONIMPORT_H
