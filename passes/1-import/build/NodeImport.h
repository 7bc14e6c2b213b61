//===- NodeImport.h - one ONNX node on its way to graph ops ---------------===//

#ifndef PCC_PASSES_1_IMPORT_BUILD_NODEIMPORT_H
#define PCC_PASSES_1_IMPORT_BUILD_NODEIMPORT_H

#include "passes/1-import/build/DenseElements.h"
#include "passes/1-import/build/Emitter.h"
#include "passes/1-import/build/ImportError.h"
#include "passes/1-import/build/ImportOptions.h"
#include "passes/1-import/build/ValueTable.h"
#include "passes/1-import/onnx/model/Model.h"

namespace pcc::onnx_import {

/// What a node says, checked, and the ops it becomes. The table of ops has
/// checked the number of operands before a normaliser sees the node.
///
/// The first mistake is kept with the node's label in front; from then on
/// nothing is made (see Emitter).
class NodeImport : public Emitter {
public:
  NodeImport(const onnx::Node &node, const ImportOptions &options,
             ValueTable &values, mlir::OpBuilder &builder, mlir::Location loc,
             int mismatchExitCode);

  const onnx::Node &node;
  /// How the model is imported.
  const ImportOptions &options;
  /// Version of the node's domain.
  int64_t opset() const { return node.opset; }

  //===--------------------------------------------------------------------===//
  // Operands
  //===--------------------------------------------------------------------===//

  /// Whether operand `i` is there: neither omitted nor cut off.
  bool has(size_t i) const;
  size_t numOperands() const { return node.inputs.size(); }
  /// Operand `i`; null if it is omitted.
  mlir::Value operand(size_t i);
  /// All operands from `first` on.
  llvm::SmallVector<mlir::Value> operands(size_t first = 0);
  /// The value called `name`, which an attribute speaks of.
  mlir::Value named(llvm::StringRef name);
  mlir::Type elementType(size_t i);
  /// The elements of operand `i`, a sequence; a mistake if it is none.
  llvm::SmallVector<mlir::Value> sequence(size_t i);

  /// The elements of operand `i`, which the op needs while importing. If it is
  /// not known the node is unsupported, and null is returned.
  mlir::DenseElementsAttr constantOperand(size_t i);
  /// The same as integers; empty after a mistake.
  llvm::SmallVector<int64_t> integers(size_t i);
  llvm::SmallVector<double> doubles(size_t i);
  /// Attribute `name` of old versions, else operand `i`; nothing if both lack.
  std::optional<llvm::SmallVector<int64_t>> integersOf(llvm::StringRef name,
                                                       size_t i);

  //===--------------------------------------------------------------------===//
  // Attributes: an entry of another type is a mistake
  //===--------------------------------------------------------------------===//

  int64_t integer(llvm::StringRef name, int64_t otherwise);
  double real(llvm::StringRef name, double otherwise);
  std::string text(llvm::StringRef name, llvm::StringRef otherwise);
  std::optional<llvm::SmallVector<int64_t>> integerList(llvm::StringRef name);
  std::optional<llvm::SmallVector<double>> realList(llvm::StringRef name);
  /// Empty if it is absent.
  llvm::SmallVector<std::string_view> textList(llvm::StringRef name);
  bool hasAttribute(llvm::StringRef name) const;
  /// The tensor of attribute `name`; null if it is absent.
  const onnx::Tensor *tensor(llvm::StringRef name);
  /// A tensor that an attribute holds, as a value.
  mlir::Value constantTensor(const onnx::Tensor &tensor);
  /// The dim that attribute `name` names, counted from the left.
  int64_t dim(llvm::StringRef name, int64_t otherwise, int64_t rank);

  //===--------------------------------------------------------------------===//
  // Checks
  //===--------------------------------------------------------------------===//

  /// `dim` counted from the left; a mistake unless it is in [-rank, rank).
  int64_t normalizeDim(int64_t dim, int64_t rank);
  /// The same for each, sorted; naming one twice is a mistake.
  llvm::SmallVector<int64_t> normalizeDims(llvm::ArrayRef<int64_t> dims,
                                           int64_t rank);
  /// The type of an ONNX type number; a mistake if pcc lacks it.
  mlir::Type typeOf(int64_t dataType);

  //===--------------------------------------------------------------------===//
  // Results
  //===--------------------------------------------------------------------===//

  /// Whether somebody may use output `i`.
  bool isOutputUsed(size_t i) const;
  /// Gives output `i` its value.
  void set(size_t i, mlir::Value value);
  /// Makes output `i` a sequence.
  void setSequence(size_t i, llvm::ArrayRef<mlir::Value> elements);

private:
  const onnx::Attribute *attribute(llvm::StringRef name,
                                   onnx::AttributeType type);
  ValueTable &values;
};

} // namespace pcc::onnx_import

#endif // PCC_PASSES_1_IMPORT_BUILD_NODEIMPORT_H
