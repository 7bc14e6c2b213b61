//===- OpTable.h - table of the ONNX ops that pcc imports, by version -----===//

#ifndef PCC_PASSES_1_IMPORT_BUILD_OPTABLE_H
#define PCC_PASSES_1_IMPORT_BUILD_OPTABLE_H

#include "passes/1-import/build/NodeImport.h"
#include "llvm/ADT/StringMap.h"

namespace pcc::onnx_import {

/// A function that creates the graph ops of one node. Returns the node's first
/// output, which the caller then defines. Returns null after an error, or if
/// the function itself has defined the outputs by NodeImport::set.
using Normalizer = mlir::Value (*)(NodeImport &node);

/// One form of an ONNX op: its definition from one opset version on, until a
/// later form replaces it.
struct OpForm {
  /// Type of the op, such as "Reshape".
  llvm::StringLiteral op;
  /// First opset version in which the op has this definition.
  int64_t since;
  /// Number n of required operands: a node must have the operands 0 to n - 1.
  size_t minOperands;
  /// Largest number of operands that a node may have; `anyNumber` if unlimited.
  size_t maxOperands;
  /// Function that imports a node with this definition of the op. Never null.
  Normalizer normalize;
};

/// Value of `OpForm::maxOperands` for an op with any number of operands.
inline constexpr size_t anyNumber = SIZE_MAX;

/// Table of all ONNX ops that pcc imports. An op has one or more forms. A form
/// is the op's definition from one opset version on, until the next form
/// replaces it. Tile has forms that begin at the versions 1 and 6:
///
///   a node in opset 5     form 1
///   a node in opset 6     form 6
///   a node in opset 26    form 6, the latest
class OpTable {
public:
  /// Returns the table of all ops that pcc imports. The first call builds it.
  /// Thread-safe.
  static const OpTable &get();

  /// Adds the ops of one domain; "" is the standard domain. An op may have
  /// several definitions in `forms`, each valid from an opset version `since`
  /// on. The definitions of one op must be in ascending order of `since`.
  void add(llvm::StringRef domain, llvm::ArrayRef<OpForm> forms);

  /// Returns whether the table has the op type of `node`, in any opset version.
  bool knows(const onnx::Node &node) const;
  /// Returns the lowest opset version that has the op type of `node`; 0 if the
  /// table lacks the op.
  int64_t firstVersion(const onnx::Node &node) const;
  /// Returns the definition of the node's op that is valid in the node's opset
  /// version. Returns null if the table lacks the op, or if the op is newer
  /// than this version.
  const OpForm *find(const onnx::Node &node) const;

  /// Calls f(domain, form) for each `form`, the definition of an op from one
  /// opset version on. The order of the calls is by domain and op type.
  void visit(llvm::function_ref<void(llvm::StringRef, const OpForm &)> f) const;

private:
  /// Returns all definitions of the node's op, oldest first. Each is valid from
  /// one opset version on. Returns null if the table lacks the op.
  const llvm::SmallVector<OpForm, 1> *forms(const onnx::Node &node) const;

  /// Definitions of each op, oldest first. Each is valid from one opset version
  /// on. The key is "domain:op", such as ":Tile".
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
