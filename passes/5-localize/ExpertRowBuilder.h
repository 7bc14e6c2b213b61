//===- ExpertRowBuilder.h - conversion of dense expert values to rows -----===//
//
// Builds the dropless form of a mixture of experts (MegaBlocks, Gale et al.
// 2022). In the dense form, every expert processes every token, so values have
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

/// The role of one dim of a dense value. All dims of tokens together, in their
/// order, count as one long dim.
enum class DimRole : uint8_t {
  /// The dim has one index per expert. A row selects one of them.
  Expert,
  /// The dim is one of those that count tokens. A row selects one index.
  Token,
  /// Every row holds all elements of the dim.
  Feature,
  /// The dim has size 1 and broadcasts to the experts or tokens of the result.
  Repeated,
};
/// The roles of the dims of a value, in the order of its dims.
using DimRoles = llvm::SmallVector<DimRole, 4>;

/// Returns the shape of `value`, which must be a ranked tensor.
inline llvm::ArrayRef<int64_t> shapeOf(mlir::Value value) {
  return graph::tensorType(value).getShape();
}

/// Returns whether some dim has `role`.
inline bool hasRole(const DimRoles &roles, DimRole role) {
  return llvm::is_contained(roles, role);
}

/// The combine step of a mixture of experts: an einsum with the attribute
/// `graph.chosen`, which sums the outputs of the experts for each token,
/// weighted by the gates. Operand 0 holds the gates, operand 1 the outputs of
/// the experts.
///
///   einsum "te,eth->th" %gates, %outputs   gateOrder = [0, 1], shape = [T, H]
struct ExpertCombine {
  graph::EinsumOp op;
  /// Roles of the dims of operand 1, the outputs of the experts.
  DimRoles outputs;
  /// Numbers of tokens and of experts on this rank, and the most experts that a
  /// token has chosen.
  int64_t numTokens = 1, numExperts = 1, chosen = 0;
  /// Permutation of the dims of the gates that puts the tokens first and the
  /// experts last.
  llvm::SmallVector<int64_t> gateOrder;
  /// Sizes of the result's dims, tokens first and features last, and the
  /// position in this list of each dim of the result.
  llvm::SmallVector<int64_t> shape, order;

  /// Reads the combine step from `op`. Returns nullopt if `op` lacks the
  /// attribute, has another form, or has no tokens or experts to sum.
  static std::optional<ExpertCombine> read(graph::EinsumOp op);
};

/// Builds the rows of dense values in front of one combine step. All values
/// list their rows in the order of one `graph.group_rows`, which the
/// constructor creates. The number of rows is known only at run time, so the
/// dim of rows is bounded: it has the capacity numRows(), and its end is
/// padding with undefined elements.
class ExpertRowBuilder : public LocalBuilder {
public:
  /// Creates the `graph.group_rows` of the gates of `sum`. `sum` must outlive
  /// the builder.
  explicit ExpertRowBuilder(const ExpertCombine &sum);

  /// Returns the rows of `value`, [rows, features…]: each row has the elements
  /// of its expert and of its token. `roles` are the roles of the dims of
  /// `value`. If these include neither experts nor tokens, all rows are equal
  /// and the result is [features…]. Gathers the rows unless setRows() has
  /// recorded them.
  mlir::Value rowsOf(mlir::Value value, const DimRoles &roles);
  /// Records `rows` as the rows of `value`.
  void setRows(mlir::Value value, mlir::Value rows) { known[value] = rows; }

  /// Returns the type of the rows of `value`: [rows, features…].
  mlir::RankedTensorType rowsType(mlir::Value value,
                                  const DimRoles &roles) const;
  /// Returns the capacity of the dim of rows: tokens · min(chosen, experts).
  int64_t numRows() const;
  /// Returns the number of rows of each expert, [experts] x i64. The sum of the
  /// counts is the number of rows before the padding.
  mlir::Value counts() { return groups.getCounts(); }

  /// Clones `op` with `operands` and with a result of `type`, and returns this
  /// result. The clone has no discardable attributes except `pipe.stage`.
  mlir::Value cloned(mlir::Operation *op, mlir::ValueRange operands,
                     mlir::RankedTensorType type);
  /// Transposes `value` so that the dims that `order` lists come first, in that
  /// order, and reshapes it to `shape`. All other dims must have size 1.
  mlir::Value arranged(mlir::Value value, llvm::ArrayRef<int64_t> order,
                       llvm::ArrayRef<int64_t> shape);

  /// Returns the result of the combine step: multiplies each of `rows` by its
  /// gate and adds it to its token (scatter-add).
  mlir::Value sumOf(mlir::Value rows);

private:
  /// The combine step whose rows are built.
  const ExpertCombine &sum;
  /// The op that lists the rows: the token, expert and gate of each, and the
  /// counts per expert.
  graph::GroupRowsOp groups;
  /// Rows of dense values, as recorded by setRows().
  llvm::DenseMap<mlir::Value, mlir::Value> known;
};

} // namespace pcc::localize

#endif // PCC_PASSES_5_LOCALIZE_EXPERTROWBUILDER_H
