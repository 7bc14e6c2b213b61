//===- NodeImport.h - view of one ONNX node for its normalizer ------------===//

#ifndef PCC_PASSES_1_IMPORT_BUILD_NODEIMPORT_H
#define PCC_PASSES_1_IMPORT_BUILD_NODEIMPORT_H

#include "passes/1-import/build/DenseElements.h"
#include "passes/1-import/build/Emitter.h"
#include "passes/1-import/build/ImportOptions.h"
#include "passes/1-import/build/ValueTable.h"
#include "passes/1-import/onnx/model/Model.h"

namespace pcc::onnx_import {

/// Access to one ONNX node for the function that translates the node to MLIR
/// ops. A getter that fails records an error and returns a default, such as
/// null, 0 or f32. After an error, the methods that create ops return null.
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

  /// Returns whether the node has operand `i`. The node lacks the operand in
  /// two cases: the operand list of the node ends before entry `i`, or entry
  /// `i` is an empty string, by which ONNX marks an omitted operand.
  bool has(size_t i) const;
  /// Returns the length of the operand list, omitted operands included.
  size_t numOperands() const { return node.inputs.size(); }
  /// Returns the SSA value of operand `i`. Returns null if the node omits the
  /// operand. An ONNX initializer has no SSA value before its first use. At the
  /// first use, this function creates a constant or a weight for the
  /// initializer. If the creation fails, or if no tensor has the name of the
  /// operand, records an error and returns null.
  mlir::Value operand(size_t i);
  /// Returns the values of operand `first` and of all later operands. The value
  /// of an absent operand is null.
  llvm::SmallVector<mlir::Value> operands(size_t first = 0);
  /// Returns the SSA value of the ONNX tensor called `name`. The tensor need
  /// not be an operand of the node. For example, the ONNX op Gradient has an
  /// attribute y. This attribute is the name of the tensor that the op
  /// differentiates. The import of a Gradient node calls this function with the
  /// name in y. If no tensor is called `name`, records an error and returns
  /// null.
  mlir::Value named(llvm::StringRef name);
  /// Returns the element type of operand `i`; f32 if the operand is null.
  mlir::Type elementType(size_t i);
  /// Returns the tensors in operand `i`, which must be an ONNX sequence. The
  /// import supports only sequences with a length that is known at compile
  /// time. For any other operand, records that the node is unsupported and
  /// returns an empty vector.
  llvm::SmallVector<mlir::Value> sequence(size_t i);

  /// Returns the elements of operand `i`, which must be known at compile time.
  /// An example is operand 1 of the ONNX op Reshape, which contains the sizes
  /// of the new shape. If the import does not know the elements, records that
  /// the node is unsupported and returns null. For example, the import does not
  /// know elements that depend on the inputs of the model, or the elements of a
  /// weight that has more than 16384 elements.
  mlir::DenseElementsAttr constantOperand(size_t i);
  /// Returns the elements of operand `i` as integers. The elements must be
  /// known at compile time. For example, operand `i` may be an ONNX initializer
  /// of at most 16384 elements. If the elements are not known, for example
  /// because the operand depends on an input of the model, records that the
  /// node is unsupported and returns an empty list.
  llvm::SmallVector<int64_t> integers(size_t i);
  /// Returns the elements of operand `i` as doubles. The elements must be known
  /// at compile time. For example, operand `i` may be an ONNX initializer of at
  /// most 16384 elements. If the elements are not known, for example because
  /// the operand depends on an input of the model, records that the node is
  /// unsupported and returns an empty list.
  llvm::SmallVector<double> doubles(size_t i);
  /// Returns a list of integers that old opsets store in the attribute `name`,
  /// and new opsets in operand `i`. Returns nothing if the node has neither. If
  /// the elements of the operand are unknown at compile time, records an error
  /// and returns an empty list.
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
  /// Creates an SSA value with the elements of `tensor`, an attribute of the
  /// node. A tensor of more than `foldLimit` elements becomes a weight if a
  /// file holds its raw bytes. Any other tensor becomes a constant. Returns
  /// null after an error.
  mlir::Value constantTensor(const onnx::Tensor &tensor);
  /// Returns the index of a dim of a tensor. The index is the value of the
  /// integer attribute `name`, or `otherwise` if the node lacks the attribute.
  /// `rank` is the number of dims of the tensor. A negative index counts from
  /// the end: for a tensor with 3 dims, -1 means dim 2, so the function returns
  /// 2. If the tensor has no such dim, records an error and returns 0.
  int64_t dim(llvm::StringRef name, int64_t otherwise, int64_t rank);

  //===--------------------------------------------------------------------===//
  // Checks
  //===--------------------------------------------------------------------===//

  /// Returns the index of a dim of a tensor as a number from 0 to `rank` - 1.
  /// `rank` is the number of dims of the tensor. A negative `dim` counts from
  /// the end. For example, for a tensor with 3 dims, the function returns 2 if
  /// `dim` is 2 or -1. If the tensor has no such dim, for example if `dim` is 3
  /// or -4, records an error and returns 0.
  int64_t normalizeDim(int64_t dim, int64_t rank);
  /// Converts the dim indices `dims`, which may be negative, to non-negative
  /// indices in ascending order. `rank` is the number of dims of the tensor. A
  /// negative index counts from the end: for a tensor with 3 dims, [-1, 0]
  /// becomes [0, 2]. Records an error if the tensor lacks a dim, or if two
  /// indices mean the same dim. With 3 dims, -1 and 2 mean the same dim.
  llvm::SmallVector<int64_t> normalizeDims(llvm::ArrayRef<int64_t> dims,
                                           int64_t rank);
  /// Returns the element type for `dataType`, a number of ONNX's
  /// TensorProto.DataType. If pcc lacks the type, records that the node is
  /// unsupported and returns f32.
  mlir::Type typeOf(int64_t dataType);

  //===--------------------------------------------------------------------===//
  // Results
  //===--------------------------------------------------------------------===//

  /// Returns whether output `i` of the node has a name, so that other nodes can
  /// read the output. The output has no name in two cases: the output list of
  /// the node ends before entry `i`, or entry `i` is an empty string, by which
  /// ONNX marks an unused output.
  bool isOutputUsed(size_t i) const;
  /// Makes `value` the SSA value of output `i` of the node. Does nothing if an
  /// error is recorded, if `value` is null, or if the output has no ONNX name.
  /// May store the ONNX name in `graph.name` of the op that defines `value`.
  void set(size_t i, mlir::Value value);
  /// Defines output `i` of the node as the ONNX sequence of `elements`. Does
  /// nothing after an error or if the output is unnamed.
  void setSequence(size_t i, llvm::ArrayRef<mlir::Value> elements);

private:
  /// Returns the attribute of the node with the name `name`. `type` is the type
  /// that the attribute must have. For example, `name` is "axis" and `type` is
  /// Int. If the node has no attribute with this name, returns null. If the
  /// attribute has another type, records an error and returns null.
  const onnx::Attribute *attribute(llvm::StringRef name,
                                   onnx::AttributeType type);
  /// Table that maps the name of an ONNX tensor to the SSA value of the tensor.
  /// The import adds the outputs of a node to the table when it imports the
  /// node. All nodes of the model share one table.
  ValueTable &values;
};

} // namespace pcc::onnx_import

#endif // PCC_PASSES_1_IMPORT_BUILD_NODEIMPORT_H
