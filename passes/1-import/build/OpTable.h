//===- OpTable.h - which ONNX ops pcc knows, since when -------------------===//

#ifndef PCC_PASSES_1_IMPORT_BUILD_OPTABLE_H
#define PCC_PASSES_1_IMPORT_BUILD_OPTABLE_H

#include "passes/1-import/build/NodeImport.h"
#include "llvm/ADT/StringMap.h"

namespace pcc::onnx_import {

/// Makes the canonical graph ops of one form of a node. Returns the value of
/// the node's first output; with more outputs it may instead give each its
/// value by NodeImport::set and return null. Null is also what is left after a
/// mistake.
using Normalizer = mlir::Value (*)(NodeImport &node);

/// One form of an op: from version `since` of its domain until the next entry.
struct OpForm {
  llvm::StringLiteral op;
  int64_t since;
  size_t minOperands;
  size_t maxOperands;
  Normalizer normalize;
};

/// For `maxOperands` of variadic ops.
inline constexpr size_t anyNumber = SIZE_MAX;

class OpTable {
public:
  /// All ops of all families.
  static const OpTable &get();

  /// The forms of one domain ("" for the standard ops), each op's oldest first.
  void add(llvm::StringRef domain, llvm::ArrayRef<OpForm> forms);

  bool knows(const onnx::Node &node) const;
  /// The first version of the domain that has the op.
  int64_t firstVersion(const onnx::Node &node) const;
  /// The form that binds a node, or null if its version of the domain does not
  /// have the op yet. Versions beyond the newest entry are read as it.
  const OpForm *find(const onnx::Node &node) const;

  /// Calls `f` with the domain and each form of all ops, in order of names.
  void visit(llvm::function_ref<void(llvm::StringRef, const OpForm &)> f) const;

private:
  const llvm::SmallVector<OpForm, 1> *forms(const onnx::Node &node) const;

  llvm::StringMap<llvm::SmallVector<OpForm, 1>> table;
};

// One family per file in ops/.
void addElementWiseOps(OpTable &table);
void addActivationOps(OpTable &table);
void addContractionOps(OpTable &table);
void addDropoutOps(OpTable &table);
void addConvolutionOps(OpTable &table);
void addAttentionOps(OpTable &table);
void addExpertOps(OpTable &table);
void addReductionOps(OpTable &table);
void addNormOps(OpTable &table);
void addLossOps(OpTable &table);
void addPoolingOps(OpTable &table);
void addLayoutOps(OpTable &table);
void addSliceOps(OpTable &table);
void addResizeOps(OpTable &table);
void addIndexingOps(OpTable &table);
void addShapeOps(OpTable &table);
void addSequenceOps(OpTable &table);
void addTrainingOps(OpTable &table);

} // namespace pcc::onnx_import

#endif // PCC_PASSES_1_IMPORT_BUILD_OPTABLE_H
