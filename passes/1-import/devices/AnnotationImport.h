//===- AnnotationImport.h - sharding annotations as IR --------------------===//

#ifndef PCC_PASSES_1_IMPORT_DEVICES_ANNOTATIONIMPORT_H
#define PCC_PASSES_1_IMPORT_DEVICES_ANNOTATIONIMPORT_H

#include "dialects/graph/SignatureAttrs.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/1-import/build/ValueTable.h"
#include "passes/1-import/devices/ShardingAnnotations.h"

namespace pcc::onnx_import {

/// Writes the shardings that a model's annotations request into the module. A
/// sharding of an input, output or weight of the model becomes the attribute
/// `dist.sharding`. A sharding of a result or an operand of a node becomes a
/// `dist.pin`, unless the value has this sharding anyway. A `dist.pin` is an op
/// that returns its operand unchanged and fixes the sharding of this value:
///
///   request for a result of a node   All later nodes that read the result read
///                                    the `dist.pin` instead.
///   request for an operand           Only the node with this operand reads the
///                                    `dist.pin`.
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
  /// for which the model requests a sharding that the operand does not have
  /// yet. For example, the model requests to split the operand "x" at `node`,
  /// and only there. The SSA value of "x" is %x. The method creates
  /// `%p = dist.pin %x`. Until the call of pinResults(), a look-up of the name
  /// "x" gives %p instead of %x. Thus `node` reads %p. Must be called before
  /// `node` is imported.
  Status pinOperands(const onnx::Node &node, Emitter &emitter);
  /// Performs two steps after the import of `node`:
  ///
  ///   1. Restores the names of the operands. For example, pinOperands() has
  ///      created `%p = dist.pin %x` for the operand "x", so that a look-up of
  ///      the name "x" gives %p. After this step, the look-up gives %x again.
  ///      Later nodes thus read %x.
  ///   2. Creates a `dist.pin` (op that fixes a sharding) for each result of
  ///      `node` for which the model requests a sharding. A result that is a
  ///      constant needs no `dist.pin` if the model requests to replicate it,
  ///      because each device holds a whole constant anyway.
  Status pinResults(const onnx::Node &node);

  /// If the model requests a sharding for its input `name`, stores this
  /// sharding in `attributes`, as the attribute `dist.sharding` of an argument
  /// of `function`. `function` is the MLIR function of the model. `input` is
  /// the index of the argument for the input `name`. `attributes` is a copy of
  /// the attributes of all arguments and results of `function`. The caller must
  /// write this copy to `function` later.
  Status markInput(mlir::func::FuncOp function, unsigned input,
                   std::string_view name, graph::SignatureAttrs &attributes);
  /// If the model requests a sharding for its output `name`, stores this
  /// sharding in `attributes`, as the attribute `dist.sharding` of a result of
  /// `function`. `function` is the MLIR function of the model. `output` is the
  /// index of the result for the output `name`. `attributes` is a copy of the
  /// attributes of all arguments and results of `function`. The caller must
  /// write this copy to `function` later.
  Status markOutput(mlir::func::FuncOp function, unsigned output,
                    std::string_view name, graph::SignatureAttrs &attributes);
  /// Sets `dist.sharding` on each parameter of `module` for which the model
  /// requests a sharding.
  Status markWeights(mlir::ModuleOp module);

private:
  /// Creates a `dist.pin` (op that fixes a sharding) of the operand `name` of
  /// `node`, if the model requests a sharding for this operand. Creates no
  /// `dist.pin` if the operand already has the sharding that the model
  /// requests.
  Status pinOperand(const onnx::Node &node, std::string_view name,
                    Emitter &emitter);
  /// Creates a `dist.pin` if the model requests a sharding for the result
  /// `name` of `node`. A `dist.pin` is an op that returns its operand unchanged
  /// and fixes the sharding of the returned value. The operand is the result
  /// `name`. A later node that reads the name `name` reads the returned value
  /// instead of the operand.
  ///
  /// Creates no `dist.pin` if the result `name` is a constant and the model
  /// requests to replicate the constant. Each device holds a whole constant
  /// anyway.
  Status pinResult(const onnx::Node &node, std::string_view name);
  /// Creates a `dist.pin` with the operand `value`, and returns its result. A
  /// `dist.pin` is an op that returns its operand unchanged and fixes the
  /// sharding of the result. The result gets the sharding `sharding`. The op
  /// also stores `name`, the ONNX name of `value`. The MLIR location of the op
  /// refers to `node`.
  mlir::Value pin(const onnx::Node &node, mlir::Value value,
                  std::string_view name, const dist::Sharding &sharding);

  const ShardingAnnotations &annotations;
  ValueTable &values;
  mlir::OpBuilder &builder;
  /// ONNX names of operands of the current node, each with the SSA value that
  /// the name stands for outside this node. The list contains each operand for
  /// which pinOperands() has created a `dist.pin`. A `dist.pin` is an op that
  /// returns its operand unchanged and fixes the sharding of the result.
  ///
  /// For example, the operand "x" has the SSA value %x. pinOperands() creates
  /// `%p = dist.pin %x`, and adds the entry "x", %x to the list. During the
  /// import of the node, the name "x" stands for %p. After the import of the
  /// node, pinResults() reads the entry and lets the name "x" stand for %x
  /// again.
  llvm::SmallVector<std::pair<std::string_view, mlir::Value>> unpinned;
};

} // namespace pcc::onnx_import

#endif // PCC_PASSES_1_IMPORT_DEVICES_ANNOTATIONIMPORT_H
