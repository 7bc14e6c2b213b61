//===- ExpertRowBuilder.h - conversion of dense expert values to rows -----===//
//
// Builds the dropless form of a mixture of experts (MegaBlocks, Gale et al.
// 2023). In the dense form, every expert processes every token, so values have
// a dim of experts and dims of tokens: [E, T, …]. A *row* is one pair of an
// expert and a token whose gate is not 0. The row form keeps only these pairs,
// ordered by expert: [rows, …].
//
//   dense   [E = 8, T = 6, H]   48 · H elements
//   rows    [12, H]             each token has chosen 2 of the 8 experts
//
//===----------------------------------------------------------------------===//

#ifndef PCC_PASSES_5_LOCALIZE_EXPERTROWBUILDER_H
#define PCC_PASSES_5_LOCALIZE_EXPERTROWBUILDER_H

#include "passes/5-localize/LocalBuilder.h"
#include <optional>

namespace pcc::localize {

/// Role of one dim of a tensor in a mixture of experts. Example: the outputs
/// [E, T, H] of all experts have an Expert, a Token and a Feature dim.
enum class DimRole : uint8_t {
  /// The dim counts experts.
  Expert,
  /// The dim counts tokens, alone or with other Token dims.
  Token,
  /// The dim holds features of a token.
  Feature,
  /// The dim has size 1 and is broadcast along experts or tokens.
  Repeated,
};
/// Roles (expert, token, feature, repeated) of all dims of a value, in the
/// order of its dims.
using DimRoles = llvm::SmallVector<DimRole, 4>;

/// Returns the shape of `value`, a ranked tensor.
inline llvm::ArrayRef<int64_t> shapeOf(mlir::Value value) {
  return graph::tensorType(value).getShape();
}

/// Returns whether at least one dim has the role `role`.
inline bool hasRole(const DimRoles &roles, DimRole role) {
  return llvm::is_contained(roles, role);
}

/// The combine step of a mixture of experts: an einsum that computes, for each
/// token, the sum of its experts' outputs. Operand 0 holds the gates (weights
/// of this sum), operand 1 the outputs. Example with tokens t, experts e and
/// features h:
///
///   einsum "te,eth->th" %gates, %outputs
struct ExpertCombine {
  graph::EinsumOp op;
  /// Roles (expert, token or feature) of the dims of operand 1, the outputs of
  /// the experts.
  DimRoles outputs;
  /// Numbers of tokens and of experts on this rank, and the largest number of
  /// experts per token.
  int64_t numTokens = 1, numExperts = 1, chosen = 0;
  /// Permutation of the dims of the gates (weights of the experts' outputs)
  /// that puts the tokens first and the expert last.
  llvm::SmallVector<int64_t> gateOrder;
  /// `shape`: sizes of the dims of the result, but with the dims of tokens
  /// first. `order`: for each dim of the result, its index in `shape`. Example:
  /// a result [H, T] has the shape [T, H] and the order [1, 0].
  llvm::SmallVector<int64_t> shape, order;

  /// Reads a combine step (weighted sum of expert outputs) from `op`. Returns
  /// nullopt for another einsum, or if there are no tokens or no experts.
  static std::optional<ExpertCombine> read(graph::EinsumOp op);
};

/// Converts dense values of a mixture of experts to rows. A row is a pair of an
/// expert and a token that chose it. All values have their rows in one order.
///
/// The number of rows is known only at run time, so tensors have room for
/// numRows(). Elements after the last row are undefined.
class ExpertRowBuilder : public LocalBuilder {
public:
  /// Creates the `graph.group_rows`, which lists the token of each row, from
  /// the gates of `sum`. `sum` must outlive the builder.
  explicit ExpertRowBuilder(const ExpertCombine &sum);

  /// Returns the rows (expert-token pairs) of `value`. `roles` tells which dims
  /// of `value` count experts, tokens or features. Returns the rows that
  /// setRows() has recorded; if there are none, builds a gather. Shape of the
  /// result:
  ///
  ///   [rows, features…]   if `value` has an expert or a token dim
  ///   [features…]         if it has neither, so that all rows are equal
  mlir::Value rowsOf(mlir::Value value, const DimRoles &roles);
  /// Records `rows` as the rows (expert-token pairs) of the dense `value`.
  /// rowsOf() then returns them.
  void setRows(mlir::Value value, mlir::Value rows) { known[value] = rows; }

  /// Returns the type of the rows (expert-token pairs) of `value`. Its shape is
  /// [rows, features…].
  mlir::RankedTensorType rowsType(mlir::Value value,
                                  const DimRoles &roles) const;
  /// Returns the largest possible number of rows (expert-token pairs) on this
  /// rank. Each token has at most one row per expert of this rank, and at most
  /// one per expert that it may choose.
  int64_t numRows() const;
  /// Returns the number of rows (tokens) of each expert as an i64 tensor of
  /// shape [experts].
  mlir::Value counts() { return groups.getCounts(); }

  /// Clones `op` with other operands and the result type `type`. Returns the
  /// clone's result. The clone keeps no discardable attribute except
  /// `pipe.stage`.
  mlir::Value cloned(mlir::Operation *op, mlir::ValueRange operands,
                     mlir::RankedTensorType type);
  /// Transposes `value` so that the dims in `order` come first, in this order.
  /// Then reshapes it to `shape`. All other dims must have size 1.
  mlir::Value arranged(mlir::Value value, llvm::ArrayRef<int64_t> order,
                       llvm::ArrayRef<int64_t> shape);

  /// Returns, for each token, the weighted sum of its experts' outputs. `rows`
  /// holds one output per expert-token pair. Each is multiplied by its gate and
  /// added to its token.
  mlir::Value sumOf(mlir::Value rows);

private:
  /// The combine step (weighted sum of expert outputs) whose rows are built.
  const ExpertCombine &sum;
  /// The op that lists the token, the expert and the gate of each row.
  graph::GroupRowsOp groups;
  /// By dense value: its rows (expert-token pairs) from setRows().
  llvm::DenseMap<mlir::Value, mlir::Value> known;
};

} // namespace pcc::localize

#endif // PCC_PASSES_5_LOCALIZE_EXPERTROWBUILDER_H
