//===- NodeImport.h - view of one ONNX node for its normalizer ------------===//

#ifndef PCC_PASSES_1_IMPORT_BUILD_NODEIMPORT_H
#define PCC_PASSES_1_IMPORT_BUILD_NODEIMPORT_H

#include "passes/1-import/build/DenseElements.h"
#include "passes/1-import/build/Emitter.h"
#include "passes/1-import/build/ImportError.h"
#include "passes/1-import/build/ImportOptions.h"
#include "passes/1-import/build/ValueTable.h"
#include "passes/1-import/onnx/model/Model.h"

namespace pcc::onnx_import {

/// Gives a normalizer checked access to the operands and attributes of one ONNX
/// node, and receives the values of the node's outputs. The op table has
/// checked the number of operands before a normalizer runs.
///
/// The inherited error handling applies: after the first error nothing is
/// created, and getters return a harmless default.
class NodeImport : public Emitter {
public:
  /// Prepares the import of `node` at the insertion point of `builder`. All
  /// references must outlive the object.
  NodeImport(const onnx::Node &node, const ImportOptions &options,
             ValueTable &values, mlir::OpBuilder &builder, mlir::Location loc,
             int mismatchExitCode);

  /// The node that is imported.
  const onnx::Node &node;
  /// Options of the whole import.
  const ImportOptions &options;
  /// Returns the opset version of the node's domain that applies to the node.
  int64_t opset() const { return node.opset; }

  //===--------------------------------------------------------------------===//
  // Operands
  //===--------------------------------------------------------------------===//

  /// Returns whether operand `i` is present. An optional operand is absent if
  /// its name is empty or the operand list is shorter.
  bool has(size_t i) const;
  /// Returns the number of operands, including omitted ones in the middle.
  size_t numOperands() const { return node.inputs.size(); }
  /// Returns operand `i`; null if it is absent or cannot be created.
  mlir::Value operand(size_t i);
  /// Returns the operands from index `first` on; absent ones are null.
  llvm::SmallVector<mlir::Value> operands(size_t first = 0);
  /// Returns the value called `name`, for attributes that refer to values by
  /// name.
  mlir::Value named(llvm::StringRef name);
  /// Returns the element type of operand `i`; f32 if the operand is null.
  mlir::Type elementType(size_t i);
  /// Returns the elements of operand `i`, which must be a sequence of known
  /// length. Otherwise the node is unsupported, and the result is empty.
  llvm::SmallVector<mlir::Value> sequence(size_t i);

  /// Returns the elements of operand `i`, which the normalizer needs at import
  /// time, such as a shape. If they are not known, the node is unsupported, and
  /// the result is null.
  mlir::DenseElementsAttr constantOperand(size_t i);
  /// Returns the elements of constantOperand(i) as integers; empty after an
  /// error.
  llvm::SmallVector<int64_t> integers(size_t i);
  /// Returns the elements of constantOperand(i) as doubles; empty after an
  /// error.
  llvm::SmallVector<double> doubles(size_t i);
  /// Returns the attribute `name` if the node has it, else the elements of
  /// operand `i`; nothing if both are absent. Older opsets use the attribute
  /// where newer opsets use the operand.
  std::optional<llvm::SmallVector<int64_t>> integersOf(llvm::StringRef name,
                                                       size_t i);

  //===--------------------------------------------------------------------===//
  // Attributes: a value of another type than the getter is an error (3)
  //===--------------------------------------------------------------------===//

  /// Returns the integer attribute `name`, or `otherwise` if it is absent.
  int64_t integer(llvm::StringRef name, int64_t otherwise);
  /// Returns the float attribute `name`, or `otherwise` if it is absent.
  double real(llvm::StringRef name, double otherwise);
  /// Returns the string attribute `name`, or `otherwise` if it is absent.
  std::string text(llvm::StringRef name, llvm::StringRef otherwise);
  /// Returns the integer list attribute `name`, or nothing if it is absent.
  std::optional<llvm::SmallVector<int64_t>> integerList(llvm::StringRef name);
  /// Returns the float list attribute `name`, or nothing if it is absent.
  std::optional<llvm::SmallVector<double>> realList(llvm::StringRef name);
  /// Returns the string list attribute `name`, or an empty list if it is
  /// absent. The strings live as long as the model.
  llvm::SmallVector<std::string_view> textList(llvm::StringRef name);
  /// Returns whether the node has the attribute `name`, of any type.
  bool hasAttribute(llvm::StringRef name) const;
  /// Returns the tensor in attribute `name`; null if it is absent.
  const onnx::Tensor *tensor(llvm::StringRef name);
  /// Creates the value of a tensor that an attribute of the node holds: a
  /// constant, or a weight if it has more than `foldLimit` elements.
  mlir::Value constantTensor(const onnx::Tensor &tensor);
  /// Returns the dim that attribute `name` selects, or the dim `otherwise` if
  /// the attribute is absent. A negative dim counts from `rank`; the result
  /// lies in [0, rank).
  int64_t dim(llvm::StringRef name, int64_t otherwise, int64_t rank);

  //===--------------------------------------------------------------------===//
  // Checks
  //===--------------------------------------------------------------------===//

  /// Returns `dim` as an index in [0, rank), where a negative `dim` counts from
  /// the end. A `dim` outside of [-rank, rank) is an error, and the result is
  /// 0.
  int64_t normalizeDim(int64_t dim, int64_t rank);
  /// Applies normalizeDim to each of `dims` and sorts the result. A repeated
  /// dim is an error.
  llvm::SmallVector<int64_t> normalizeDims(llvm::ArrayRef<int64_t> dims,
                                           int64_t rank);
  /// Returns the element type for an ONNX TensorProto.DataType number. A type
  /// that pcc lacks makes the node unsupported, and the result is f32.
  mlir::Type typeOf(int64_t dataType);

  //===--------------------------------------------------------------------===//
  // Results
  //===--------------------------------------------------------------------===//

  /// Returns whether output `i` has a name, so that another node or the graph's
  /// outputs may use it.
  bool isOutputUsed(size_t i) const;
  /// Defines output `i` as `value`. Does nothing after an error, for a null
  /// value or for an unnamed output. If `value` is the only result of an op
  /// that has no `graph.name`, the op gets the output's name. Constants,
  /// weights and pins get no name.
  void set(size_t i, mlir::Value value);
  /// Defines output `i` as the sequence of `elements`.
  void setSequence(size_t i, llvm::ArrayRef<mlir::Value> elements);

private:
  /// Returns the attribute `name`; null if it is absent or, with an error, not
  /// of type `type`.
  const onnx::Attribute *attribute(llvm::StringRef name,
                                   onnx::AttributeType type);
  /// Values of all names of the model that are defined so far.
  ValueTable &values;
};

} // namespace pcc::onnx_import

#endif // PCC_PASSES_1_IMPORT_BUILD_NODEIMPORT_H
