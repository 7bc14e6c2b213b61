//===- NodeImport.h - view of one ONNX node for its normalizer ------------===//

#ifndef PCC_PASSES_1_IMPORT_BUILD_NODEIMPORT_H
#define PCC_PASSES_1_IMPORT_BUILD_NODEIMPORT_H

#include "passes/1-import/build/DenseElements.h"
#include "passes/1-import/build/Emitter.h"
#include "passes/1-import/build/ImportOptions.h"
#include "passes/1-import/build/ValueTable.h"
#include "passes/1-import/onnx/model/Model.h"

namespace pcc::onnx_import {

/// View of one ONNX node for its normalizer, the function that creates the
/// node's graph ops. The normalizer reads operands and attributes with the
/// getters, and defines outputs with `set`.
///
/// After the first error no op is created, and getters return a default, such
/// as null, 0 or f32.
class NodeImport : public Emitter {
public:
  /// Prepares to import `node` at the insertion point of `builder`. All
  /// references must outlive the object.
  NodeImport(const onnx::Node &node, const ImportOptions &options,
             ValueTable &values, mlir::OpBuilder &builder, mlir::Location loc,
             ExitCode mismatchExitCode);

  /// The node that is imported.
  const onnx::Node &node;
  /// Options of the import, which are the same for all nodes.
  const ImportOptions &options;
  /// Returns the opset version that applies to the node.
  int64_t opset() const { return node.opset; }

  //===--------------------------------------------------------------------===//
  // Operands
  //===--------------------------------------------------------------------===//

  /// Returns whether operand `i` is present: it is listed and has a name.
  bool has(size_t i) const;
  /// Returns the length of the operand list, omitted operands included.
  size_t numOperands() const { return node.inputs.size(); }
  /// Returns the value of operand `i`; null if the operand is absent. If the
  /// value cannot be created, records an error and returns null.
  mlir::Value operand(size_t i);
  /// Returns the values of operand `first` and of all later operands. The entry
  /// of an absent operand is null.
  llvm::SmallVector<mlir::Value> operands(size_t first = 0);
  /// Returns the value with the ONNX name `name`, such as a name in an
  /// attribute.
  mlir::Value named(llvm::StringRef name);
  /// Returns the element type of operand `i`; f32 if the operand is null.
  mlir::Type elementType(size_t i);
  /// Returns the elements of operand `i`, an ONNX sequence. If the sequence is
  /// unknown, records that the node is unsupported and returns an empty vector.
  llvm::SmallVector<mlir::Value> sequence(size_t i);

  /// Returns the elements of operand `i`, such as a shape. If the elements are
  /// unknown, records that the node is unsupported and returns null.
  mlir::DenseElementsAttr constantOperand(size_t i);
  /// Returns the elements of operand `i` as integers. If they are not known
  /// during the import, records that the node is unsupported and returns an
  /// empty list.
  llvm::SmallVector<int64_t> integers(size_t i);
  /// Returns the elements of operand `i` as doubles. If they are not known
  /// during the import, records that the node is unsupported and returns an
  /// empty list.
  llvm::SmallVector<double> doubles(size_t i);
  /// Returns the integers in the attribute `name` (older opsets) or in operand
  /// `i` (newer opsets). Returns nothing if both are absent.
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
  /// Returns whether the node has the attribute `name`, whatever its type.
  bool hasAttribute(llvm::StringRef name) const;
  /// Returns the tensor in attribute `name`; null if it is absent.
  const onnx::Tensor *tensor(llvm::StringRef name);
  /// Creates a constant that holds `tensor`. A tensor of more than `foldLimit`
  /// = 16384 elements may become a weight (`graph.parameter`) instead.
  mlir::Value constantTensor(const onnx::Tensor &tensor);
  /// Returns the dim index in the attribute `name`, by default `otherwise`. The
  /// result lies in [0, rank): a negative index counts from the end.
  int64_t dim(llvm::StringRef name, int64_t otherwise, int64_t rank);

  //===--------------------------------------------------------------------===//
  // Checks
  //===--------------------------------------------------------------------===//

  /// Converts `dim` to an index in [0, rank): -1 becomes rank - 1. If `dim` is
  /// out of range, records an error and returns 0.
  int64_t normalizeDim(int64_t dim, int64_t rank);
  /// Converts each of `dims` with normalizeDim and returns them in ascending
  /// order. Records an error if a dim appears twice.
  llvm::SmallVector<int64_t> normalizeDims(llvm::ArrayRef<int64_t> dims,
                                           int64_t rank);
  /// Returns the element type for `dataType`, a number of ONNX's
  /// TensorProto.DataType. If pcc lacks the type, records that the node is
  /// unsupported and returns f32.
  mlir::Type typeOf(int64_t dataType);

  //===--------------------------------------------------------------------===//
  // Results
  //===--------------------------------------------------------------------===//

  /// Returns whether output `i` exists and has a name, so that it may be used.
  bool isOutputUsed(size_t i) const;
  /// Defines output `i` of the node as `value`. Does nothing after an error,
  /// for a null `value` or for an unnamed output. The op that defines `value`
  /// gets the output's name as `graph.name`, with these exceptions:
  ///
  ///   - an op that has several results or already has a name
  ///   - a constant, a weight or a pin (op that fixes a sharding)
  void set(size_t i, mlir::Value value);
  /// Defines output `i` of the node as the ONNX sequence of `elements`. Does
  /// nothing after an error or if the output is unnamed.
  void setSequence(size_t i, llvm::ArrayRef<mlir::Value> elements);

private:
  /// Returns the attribute `name`; null if it is absent. If its type is not
  /// `type`, records an error and returns null.
  const onnx::Attribute *attribute(llvm::StringRef name,
                                   onnx::AttributeType type);
  /// Map from each ONNX name that the import has defined so far to its value.
  ValueTable &values;
};

} // namespace pcc::onnx_import

#endif // PCC_PASSES_1_IMPORT_BUILD_NODEIMPORT_H
