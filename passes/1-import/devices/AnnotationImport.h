//===- AnnotationImport.h - annotations in the IR -------------------------===//

#ifndef PCC_PASSES_1_IMPORT_DEVICES_ANNOTATIONIMPORT_H
#define PCC_PASSES_1_IMPORT_DEVICES_ANNOTATIONIMPORT_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/1-import/build/ValueTable.h"
#include "passes/1-import/devices/ShardingAnnotations.h"

namespace pcc::onnx_import {

/// Puts what annotations ask for into a module while it is made: `dist.pin` ops
/// behind values and in front of uses, `dist.sharding` on inputs, outputs and
/// weights. Every method is false after an error.
class AnnotationImport {
public:
  AnnotationImport(const ShardingAnnotations &annotations, ValueTable &values,
                   mlir::OpBuilder &builder, ImportError &error)
      : annotations(annotations), values(values), builder(builder),
        error(error) {}

  /// Before `node` is imported: its operands are what it wants of them.
  bool pinOperands(const onnx::Node &node, Emitter &emitter);
  /// After it: its operands are for other nodes what they were, and its results
  /// are what they are asked to be.
  bool pinResults(const onnx::Node &node);

  bool markInput(mlir::func::FuncOp function, unsigned input,
                 std::string_view name);
  bool markOutput(mlir::func::FuncOp function, unsigned output,
                  std::string_view name);
  bool markWeights(mlir::ModuleOp module);

private:
  bool pinOperand(const onnx::Node &node, std::string_view name,
                  Emitter &emitter);
  bool pinResult(const onnx::Node &node, std::string_view name);
  mlir::Value pin(const onnx::Node &node, mlir::Value value,
                  std::string_view name, const dist::Sharding &sharding);

  const ShardingAnnotations &annotations;
  ValueTable &values;
  mlir::OpBuilder &builder;
  ImportError &error;
  /// What the names of a node's pinned operands stand for elsewhere.
  llvm::SmallVector<std::pair<std::string_view, mlir::Value>> unpinned;
};

} // namespace pcc::onnx_import

#endif // PCC_PASSES_1_IMPORT_DEVICES_ANNOTATIONIMPORT_H
