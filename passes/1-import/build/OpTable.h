//===- OpTable.h - table of the ONNX ops that pcc imports, by version -----===//

#ifndef PCC_PASSES_1_IMPORT_BUILD_OPTABLE_H
#define PCC_PASSES_1_IMPORT_BUILD_OPTABLE_H

#include "passes/1-import/build/NodeImport.h"
#include "llvm/ADT/StringMap.h"

namespace pcc::onnx_import {

/// A function that translates one ONNX node to MLIR ops. It returns the SSA
/// value of output 0. It returns null after an error, or if it has defined
/// output 0 by NodeImport::set(). It defines all other outputs by set().
using Normalizer = mlir::Value (*)(NodeImport &node);

/// A form of an ONNX op, which is the definition of the op in a range of opset
/// versions. For example, Tile has two forms. The first form is valid in the
/// opset versions 1 to 5. The second form has fewer operands, and is valid from
/// opset version 6 on. An OpForm stores only the first version of its range.
struct OpForm {
  /// Type of the op, such as "Reshape".
  llvm::StringLiteral op;
  /// First opset version in which this form of the op is valid. A form is the
  /// definition of an op in a range of opset versions. For example, Tile has a
  /// form for the versions 1 to 5, and another form from version 6 on. `since`
  /// is 1 in the first form and 6 in the second form.
  int64_t since;
  /// Number n of required operands: a node must have the operands 0 to n - 1.
  size_t minOperands;
  /// Largest number of operands that a node may have; `anyNumber` if unlimited.
  size_t maxOperands;
  /// Function that translates an ONNX node of this form to MLIR ops. A form is
  /// the definition of an op in a range of opset versions. For example, Tile
  /// has one form for the opset versions 1 to 5, and another form from version
  /// 6 on. Each form may have its own function. The member is never null.
  Normalizer normalize;
};

/// Value of `OpForm::maxOperands` for an op with any number of operands.
inline constexpr size_t anyNumber = SIZE_MAX;

/// Table of all ONNX ops that pcc imports. An op has one entry per definition:
/// Tile has an entry for the opset versions 1 to 5 and an entry from version 6
/// on. The opset version of a node selects the entry.
class OpTable {
public:
  /// Returns the table of all ops that pcc imports. The first call builds it.
  /// Thread-safe.
  static const OpTable &get();

  /// Adds `forms`, definitions of ONNX ops of the domain `domain`, to the
  /// table. The domain of the standard ops is "". An op may have several
  /// definitions, which must be in ascending order of the first opset version
  /// (`since`). For example, the definition of Tile from version 1 must come
  /// before the definition from version 6.
  void add(llvm::StringRef domain, llvm::ArrayRef<OpForm> forms);

  /// Returns whether the table has the op type of `node`, in any opset version.
  bool knows(const onnx::Node &node) const;
  /// Returns the lowest opset version that has the op type of `node`; 0 if the
  /// table lacks the op.
  int64_t firstVersion(const onnx::Node &node) const;
  /// Returns the definition of the op of `node` that is valid in the node's
  /// opset version. Returns null if the table lacks the op, or if the op is
  /// newer than the opset version.
  const OpForm *find(const onnx::Node &node) const;

  /// Calls f(domain, form) for each form of each op in the table. `domain` is
  /// the domain of the op, such as "com.microsoft". A form is the definition of
  /// an op in a range of opset versions. For example, Tile has a form for opset
  /// versions 1 to 5, and another form from version 6 on, so Tile causes two
  /// calls of `f`. The calls are ordered by domain, op type and version.
  void visit(llvm::function_ref<void(llvm::StringRef, const OpForm &)> f) const;

private:
  /// Returns all forms of the op of `node`, in ascending order of the opset
  /// version. A form is the definition of an op in a range of opset versions.
  /// For example, Tile has a form for the versions 1 to 5, and another form
  /// from version 6 on. Returns null if the table lacks the op.
  const llvm::SmallVector<OpForm, 1> *forms(const onnx::Node &node) const;

  /// Map from each op to its definitions, in ascending order of the first opset
  /// version. A key consists of a domain, a colon and an op type, such as
  /// "com.microsoft:Gelu". The key of the standard op Tile is ":Tile".
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
