//===- OpTable.h - table of the ONNX ops that pcc imports, by version -----===//

#ifndef PCC_PASSES_1_IMPORT_BUILD_OPTABLE_H
#define PCC_PASSES_1_IMPORT_BUILD_OPTABLE_H

#include "passes/1-import/build/NodeImport.h"
#include "llvm/ADT/StringMap.h"

namespace pcc::onnx_import {

/// A function that creates the canonical graph ops for one form of an ONNX op.
/// Returns the value of the node's first output. A normalizer of a node with
/// several outputs may instead define each output by NodeImport::set and return
/// null. After an error it returns null as well.
using Normalizer = mlir::Value (*)(NodeImport &node);

/// One form of an op, which holds from version `since` of the op's domain up to
/// the next form in the table.
struct OpForm {
  /// Type of the op, such as "Reshape".
  llvm::StringLiteral op;
  /// First version of the domain in which this form holds.
  int64_t since;
  /// Number of leading operands that must be present.
  size_t minOperands;
  /// Most operands that a node may have, or `anyNumber`.
  size_t maxOperands;
  /// Function that imports nodes of this form, never null.
  Normalizer normalize;
};

/// Value of `maxOperands` for a variadic op.
inline constexpr size_t anyNumber = SIZE_MAX;

/// Maps a domain, an op and a version to a form of the op. For Tile, whose
/// forms start at the versions 1 and 6:
///
///   a node in opset 5     form 1
///   a node in opset 6     form 6
///   a node in opset 26    form 6, as in every later version
class OpTable {
public:
  /// Returns the table of all ops, which is built at the first call.
  /// Thread-safe.
  static const OpTable &get();

  /// Adds the forms of ops of one domain ("" for the standard ops). The forms
  /// of an op must come in ascending order of `since`.
  void add(llvm::StringRef domain, llvm::ArrayRef<OpForm> forms);

  /// Returns whether the table has the op of `node`, in any version.
  bool knows(const onnx::Node &node) const;
  /// Returns the first version of the domain that has the op of `node`; 0 if
  /// the table lacks the op.
  int64_t firstVersion(const onnx::Node &node) const;
  /// Returns the form that holds for the op and opset of `node`: the newest one
  /// that is not newer than the opset. Null if the table lacks the op, or if
  /// the opset is older than the op.
  const OpForm *find(const onnx::Node &node) const;

  /// Calls `f` with the domain and each form of all ops, sorted by domain and
  /// op.
  void visit(llvm::function_ref<void(llvm::StringRef, const OpForm &)> f) const;

private:
  /// Returns all forms of the op of `node`, oldest first; null if there are
  /// none.
  const llvm::SmallVector<OpForm, 1> *forms(const onnx::Node &node) const;

  /// Forms by the key "domain:op", oldest first.
  llvm::StringMap<llvm::SmallVector<OpForm, 1>> table;
};

// Functions that add the ops of one family. Each is defined in a file of ops/.
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
