//===- OpTable.h - table of the ONNX ops that pcc imports, by version -----===//

#ifndef PCC_PASSES_1_IMPORT_BUILD_OPTABLE_H
#define PCC_PASSES_1_IMPORT_BUILD_OPTABLE_H

#include "passes/1-import/build/NodeImport.h"
#include "llvm/ADT/StringMap.h"

namespace pcc::onnx_import {

/// A function that imports one node: creates the node's graph ops and returns
/// the value of its first output. For a node with several outputs, the function
/// may instead define each output with NodeImport::set and return null. Also
/// returns null after an error.
using Normalizer = mlir::Value (*)(NodeImport &node);

/// One form of an ONNX op: the operands and attributes that the op has from
/// opset version `since` on, until a later form of the op replaces this form.
struct OpForm {
  /// Type of the op, such as "Reshape".
  llvm::StringLiteral op;
  /// First opset version of the op's domain in which this form (these operands
  /// and attributes) is valid.
  int64_t since;
  /// Number of required operands. The operands with the indices 0 to
  /// minOperands - 1 must be present.
  size_t minOperands;
  /// Largest number of operands that a node may have; `anyNumber` if unlimited.
  size_t maxOperands;
  /// Function that imports nodes whose opset version selects this form of the
  /// op. Never null.
  Normalizer normalize;
};

/// Value of `OpForm::maxOperands` for an op with any number of operands.
inline constexpr size_t anyNumber = SIZE_MAX;

/// Table of all ONNX ops that pcc imports. It maps a domain, an op type and an
/// opset version to the form of the op that holds in this version. For Tile,
/// whose forms start at the versions 1 and 6:
///
///   a node in opset 5     form 1
///   a node in opset 6     form 6
///   a node in opset 26    form 6, as in every later version
class OpTable {
public:
  /// Returns the table of all ops that pcc imports. The first call builds it.
  /// Thread-safe.
  static const OpTable &get();

  /// Adds forms of ops of one domain to the table; `domain` is "" for the
  /// standard ops. The forms of each op must be in ascending order of `since`.
  void add(llvm::StringRef domain, llvm::ArrayRef<OpForm> forms);

  /// Returns whether the table has the op type of `node`, in any opset version.
  bool knows(const onnx::Node &node) const;
  /// Returns the lowest opset version that has the op type of `node`; 0 if the
  /// table lacks the op.
  int64_t firstVersion(const onnx::Node &node) const;
  /// Returns the form (operands and attributes) of the op of `node` in the
  /// node's opset. It is the form with the highest `since` that is not above
  /// the opset version. Returns null if the table lacks the op, or if the opset
  /// is older than the op's first form.
  const OpForm *find(const onnx::Node &node) const;

  /// Calls `f(domain, form)` for each form of each op, in the order of domain
  /// and op type.
  void visit(llvm::function_ref<void(llvm::StringRef, const OpForm &)> f) const;

private:
  /// Returns all forms of the op of `node`, oldest first; null if the table
  /// lacks the op.
  const llvm::SmallVector<OpForm, 1> *forms(const onnx::Node &node) const;

  /// Forms of each op, oldest first. The key is "domain:op"; see `key`.
  llvm::StringMap<llvm::SmallVector<OpForm, 1>> table;
};

// Functions that each add one family of ops to `table`. Each function is
// defined in a file of the folder ops/.
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
