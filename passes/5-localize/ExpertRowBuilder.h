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

/// Role of one dim of a dense value of a mixture of experts. A row is one pair
/// of an expert and a token that chose it. All token dims together count as one
/// long dim.
enum class DimRole : uint8_t {
  /// The dim counts experts. A row, which is a pair of an expert and a token,
  /// has one index along it.
  Expert,
  /// The dim, alone or with other Token dims, counts tokens. A row, which is a
  /// pair of an expert and a token, has one index along it.
  Token,
  /// The dim holds features of a token. A row, which is a pair of an expert and
  /// a token, has all elements of it.
  Feature,
  /// The dim has size 1 and is broadcast along the experts or tokens of the
  /// op's result.
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

/// The combine step of a mixture of experts: an einsum with the attribute
/// `graph.chosen` that sums, for each token, the outputs of the experts
/// weighted by the gates. Operand 0 holds the gates, operand 1 the outputs of
/// the experts.
///
///   einsum "te,eth->th" %gates, %outputs   gateOrder = [0, 1], shape = [T, H]
struct ExpertCombine {
  graph::EinsumOp op;
  /// Roles (expert, token or feature) of the dims of operand 1, the outputs of
  /// the experts.
  DimRoles outputs;
  /// Number of tokens and of experts on this rank, and the largest number of
  /// experts that a token chooses.
  int64_t numTokens = 1, numExperts = 1, chosen = 0;
  /// Permutation of the dims of the gates that puts the token dims first and
  /// the expert dim last.
  llvm::SmallVector<int64_t> gateOrder;
  /// `shape`: sizes of the result's dims, sorted: token dims first, features
  /// last. `order`: for each dim of the result, its index in `shape`. For the
  /// result [H, T]: shape = [T, H], order = [1, 0].
  llvm::SmallVector<int64_t> shape, order;

  /// Reads the combine step, the weighted sum of expert outputs, from `op`.
  /// Returns nullopt if `op` lacks `graph.chosen`, has another form, or has no
  /// tokens or no experts.
  static std::optional<ExpertCombine> read(graph::EinsumOp op);
};

/// Builds the rows of dense values for one combine step (weighted sum of expert
/// outputs). A row is one pair of an expert and a token that chose it. The
/// constructor creates one `graph.group_rows`, which lists the rows. This list
/// determines the order of rows in all values.
///
/// The number of rows is known only at run time. Therefore the dim of rows has
/// the largest possible size, numRows(). Elements after the last row are
/// undefined.
class ExpertRowBuilder : public LocalBuilder {
public:
  /// Creates the `graph.group_rows`, the op that lists which token is sent to
  /// which expert, for the gates of `sum`. `sum` must outlive the builder.
  explicit ExpertRowBuilder(const ExpertCombine &sum);

  /// Returns the rows of `value`, whose dims have the roles `roles`. A row is a
  /// pair of an expert and a token; it holds the features of `value` for this
  /// pair. The shape of the result is
  ///
  ///   [rows, features…]   if `value` has an expert or a token dim
  ///   [features…]         if it has neither, so that all rows are equal
  ///
  /// Returns the rows that setRows() recorded for `value`, if any; otherwise
  /// builds a gather.
  mlir::Value rowsOf(mlir::Value value, const DimRoles &roles);
  /// Records that `rows` holds the rows (pairs of an expert and a token) of the
  /// dense `value`, so that rowsOf() returns them.
  void setRows(mlir::Value value, mlir::Value rows) { known[value] = rows; }

  /// Returns the type of the rows (pairs of an expert and a token) of `value`,
  /// whose shape is [rows, features…].
  mlir::RankedTensorType rowsType(mlir::Value value,
                                  const DimRoles &roles) const;
  /// Returns the largest possible number of rows (pairs of an expert and a
  /// token that chose it): tokens · min(chosen, experts).
  int64_t numRows() const;
  /// Returns the number of rows of each expert as an i64 tensor [experts]. A
  /// row is a pair of an expert and a token, so the number is that of the
  /// tokens that chose the expert.
  mlir::Value counts() { return groups.getCounts(); }

  /// Clones `op` with `operands` as operands and a result of type `type`.
  /// Returns the result of the clone. The clone's only discardable attribute is
  /// `pipe.stage`.
  mlir::Value cloned(mlir::Operation *op, mlir::ValueRange operands,
                     mlir::RankedTensorType type);
  /// Transposes `value` so that the dims listed in `order` come first, in this
  /// order, and reshapes the result to `shape`. All dims not in `order` must
  /// have size 1.
  mlir::Value arranged(mlir::Value value, llvm::ArrayRef<int64_t> order,
                       llvm::ArrayRef<int64_t> shape);

  /// Returns, for each token, the sum of its experts' outputs. Multiplies each
  /// of `rows` (one per pair of an expert and a token) by its gate, and adds
  /// the product to the result of its token (scatter-add).
  mlir::Value sumOf(mlir::Value rows);

private:
  /// The weighted sum of expert outputs for which rows (pairs of an expert and
  /// a token) are built.
  const ExpertCombine &sum;
  /// The op that lists the rows (pairs of an expert and a token): token, expert
  /// and gate of each, and the number of rows of each expert.
  graph::GroupRowsOp groups;
  /// By dense value: its rows (pairs of an expert and a token), as setRows()
  /// has recorded them.
  llvm::DenseMap<mlir::Value, mlir::Value> known;
};

} // namespace pcc::localize

#endif // PCC_PASSES_5_LOCALIZE_EXPERTROWBUILDER_H
