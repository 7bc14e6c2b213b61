//===- NodeImport.h - view of one ONNX node for its normalizer ------------===//

#ifndef PCC_PASSES_1_IMPORT_BUILD_NODEIMPORT_H
#define PCC_PASSES_1_IMPORT_BUILD_NODEIMPORT_H

#include "passes/1-import/build/DenseElements.h"
#include "passes/1-import/build/Emitter.h"
#include "passes/1-import/build/ImportOptions.h"
#include "passes/1-import/build/ValueTable.h"
#include "passes/1-import/onnx/model/Model.h"

namespace pcc::onnx_import {

/// View of one ONNX node for its normalizer. A normalizer is a function that
/// translates the nodes of one ONNX op to MLIR ops. The normalizer reads the
/// operands and attributes of the node with the getters. The methods of the
/// base class Emitter create MLIR ops. The method `set` defines an output.
///
/// A getter that fails records an error and returns a default, such as null, 0
/// or f32. After the first error, the methods that create ops create nothing
/// and return null.
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
  /// Returns the values of operand `first` and of all later operands. The entry
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
  /// Returns a list of integers that is an attribute in old opsets and an
  /// operand in new opsets. For example, the list of axes of the ONNX op
  /// Squeeze is the attribute axes before opset 13, and operand 1 from opset 13
  /// on.
  ///
  /// If the node has the attribute `name`, returns the integers of the
  /// attribute. Otherwise returns the elements of operand `i`. If the import
  /// does not know these elements, records that the node is unsupported and
  /// returns an empty list. If the node has neither the attribute nor the
  /// operand, returns nothing.
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
  /// Creates an SSA value with the elements of `tensor`, the value of an ONNX
  /// attribute. A tensor of at most 16384 elements becomes a constant. A larger
  /// tensor becomes a weight if a file holds the elements as raw bytes. Any
  /// other larger tensor becomes a constant.
  ///
  /// Records an error and returns null if the file cannot be read, if pcc does
  /// not support the element type, or if the shape is invalid. Also fails if
  /// training may change a larger tensor without raw bytes.
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
  /// Converts the dim indices `dims`, which may be negative, to indices that
  /// are not negative, and returns the indices in ascending order. `rank` is
  /// the number of dims of the tensor. A negative index counts from the end:
  /// for a tensor with 3 dims, [-1, 0] becomes [0, 2]. Records an error if the
  /// tensor has no such dim, or if two indices mean the same dim. For example,
  /// -1 and 2 mean the same dim of a tensor with 3 dims.
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
  /// Makes `value` the SSA value of output `i` of the node, so that later nodes
  /// can read the output. Does nothing if an error is recorded, if `value` is
  /// null, or if the output has no ONNX name.
  ///
  /// Also stores the ONNX name in the attribute `graph.name` of the op that
  /// creates `value`. An op that already has a name keeps this name. An op with
  /// several results, a constant, a `graph.get_parameter` (it reads a weight)
  /// and a `dist.pin` (it requests a sharding) get no name.
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
