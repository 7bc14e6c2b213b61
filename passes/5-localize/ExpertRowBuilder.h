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

/// Kind of one dim of a tensor in a mixture of experts. Example: the outputs
/// [E, T, H] of all experts have an Expert, a Token and a Feature dim.
enum class DimRole : uint8_t {
  /// The dim counts experts.
  Expert,
  /// The dim counts tokens. A tensor may have several Token dims. For example,
  /// a tensor [8, 2, 3, H] has 8 experts, 2 sequences of 3 tokens, and H
  /// features. The dims of sizes 2 and 3 are Token dims, for 6 tokens in total.
  Token,
  /// The dim holds features of a token.
  Feature,
  /// The dim has size 1 and is broadcast along experts or tokens.
  Repeated,
};
/// Kinds of the dims of one tensor, in order. For example, the biases [8, 1, 4]
/// of 8 experts have the kinds Expert, Repeated and Feature.
using DimRoles = llvm::SmallVector<DimRole, 4>;

/// Returns the shape of `value`, a ranked tensor.
inline llvm::ArrayRef<int64_t> shapeOf(mlir::Value value) {
  return graph::tensorType(value).getShape();
}

/// Returns whether at least one dim has the kind `role`, such as Expert.
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
  /// Kinds of the dims of operand 1 of `op`, the outputs of the experts. In the
  /// einsum "te,eth->th" with tokens t and experts e, operand 1 has the dims
  /// "eth", and the kinds are Expert, Token and Feature.
  DimRoles outputs;
  /// `numTokens` is the number of tokens for which `op` computes a weighted
  /// sum. `numExperts` is the number of experts on this rank. `chosen` is the
  /// largest number of experts that one token may choose, on all ranks
  /// together.
  int64_t numTokens = 1, numExperts = 1, chosen = 0;
  /// Permutation for a transpose of the gates. The gates are the weights of the
  /// experts' outputs. The transpose puts the token dims first and the expert
  /// dim last. Element i is the dim of the gates that becomes dim i. Example:
  /// the gates [8, 2, 3] have one dim for 8 experts and two dims for 2 · 3
  /// tokens. Then `gateOrder` is [1, 2, 0], and the transposed gates have the
  /// shape [2, 3, 8].
  llvm::SmallVector<int64_t> gateOrder;
  /// `shape` and `order` describe the result of the einsum `op`. `shape` lists
  /// the sizes of the dims of the result: first the sizes of the token dims,
  /// then the sizes of the feature dims. `order` has one element for each dim
  /// of the result. Element i is the index in `shape` of the size of dim i.
  /// Example: the result has the shape [4, 6] for 4 features and 6 tokens. Then
  /// `shape` is [6, 4], and `order` is [1, 0].
  llvm::SmallVector<int64_t> shape, order;

  /// Reads a combine step from `op`. Returns nullopt if the attribute
  /// `graph.chosen` is missing, if the dims do not fit a combine step with one
  /// expert dim, or if there are no tokens or experts.
  static std::optional<ExpertCombine> read(graph::EinsumOp op);
};

/// Builds ops that compute only the rows of a mixture of experts. A row is a
/// chosen (token, expert) pair. Rows are sorted by expert. Tensors have space
/// for numRows() rows, and elements after the last row are undefined.
class ExpertRowBuilder : public LocalBuilder {
public:
  /// Creates a `graph.group_rows` op, which lists the rows: each (token,
  /// expert) pair whose gate is not 0. The gates are operand 0 of the einsum in
  /// `sum`. The builder keeps a reference to `sum`, so `sum` must outlive the
  /// builder.
  explicit ExpertRowBuilder(const ExpertCombine &sum);

  /// Returns the elements of `value` for each row, a chosen (token, expert)
  /// pair. A `value` [experts, tokens, H], [experts, H] or [tokens, H] gives
  /// the shape [numRows(), H]. A `value` [H] keeps its shape. If setRows() has
  /// recorded a tensor for `value`, returns this tensor.
  mlir::Value rowsOf(mlir::Value value, const DimRoles &roles);
  /// Records that `rows` holds the rows of `value`. A row is a pair of an
  /// expert and a token that chose this expert. Example: `value` has the shape
  /// [8, 6, H] for all pairs of 8 experts and 6 tokens. `rows` has the shape
  /// [12, H] for the 12 pairs in which the token chose the expert. A later call
  /// of rowsOf() for `value` returns `rows`.
  void setRows(mlir::Value value, mlir::Value rows) { known[value] = rows; }

  /// Returns the type of rowsOf(value) for a `value` with an expert dim or a
  /// token dim. The shape is [numRows(), feature dims of `value`].
  mlir::RankedTensorType rowsType(mlir::Value value,
                                  const DimRoles &roles) const;
  /// Returns the largest possible number of rows on this rank. A row is a pair
  /// of an expert of this rank and a token that chose this expert. Example:
  /// there are 6 tokens, and each token chooses at most 2 experts. With 8
  /// experts on this rank, there are at most 6 · 2 = 12 rows. With one expert
  /// on this rank, there are at most 6 · 1 = 6 rows.
  int64_t numRows() const;
  /// Returns an i64 vector with one element for each expert on this rank.
  /// Element e is the number of rows of expert e. A row is a pair of an expert
  /// and a token that chose this expert. Example: there are 3 experts and 2
  /// tokens. Token 0 chose the experts 0 and 2, and token 1 chose expert 2. The
  /// vector is [1, 0, 2].
  mlir::Value counts() { return groups.getCounts(); }

  /// Clones `op` with other operands and the result type `type`. Returns the
  /// clone's result. The clone keeps no discardable attribute except
  /// `pipe.stage`.
  mlir::Value cloned(mlir::Operation *op, mlir::ValueRange operands,
                     mlir::RankedTensorType type);
  /// Transposes `value` to put the dims in `order` first, and reshapes it to
  /// `shape`. All other dims must have size 1.
  mlir::Value arranged(mlir::Value value, llvm::ArrayRef<int64_t> order,
                       llvm::ArrayRef<int64_t> shape);

  /// Builds the combine step on rows, and returns its result. A row is a pair
  /// of an expert and a token that chose this expert. `rows` holds one output
  /// of an expert for each row. The result holds one weighted sum for each
  /// token. Example: token 3 chose the experts 0 and 2, with the gates 0.7 and
  /// 0.3. The result for token 3 is 0.7 · a + 0.3 · b. Here a is the output of
  /// expert 0 for token 3, and b is the output of expert 2 for token 3.
  mlir::Value sumOf(mlir::Value rows);

private:
  /// The combine step, which the builder replaces. It is an einsum that
  /// computes, for each token, the weighted sum of its experts' outputs. The
  /// new ops compute this sum from rows. A row is a pair of an expert and a
  /// token that chose this expert.
  const ExpertCombine &sum;
  /// Op that lists the token, the expert and the gate of each row. A row is a
  /// chosen (token, expert) pair. The gate is the weight of the expert in the
  /// combine step.
  graph::GroupRowsOp groups;
  /// Map from a value to its rows. A row is a pair of an expert and a token
  /// that chose this expert. Example: the key has the shape [8, 6, H] for all
  /// pairs of 8 experts and 6 tokens. The mapped value has the shape [12, H]
  /// for the 12 pairs in which the token chose the expert. The function
  /// setRows() fills the map.
  llvm::DenseMap<mlir::Value, mlir::Value> known;
};

} // namespace pcc::localize

#endif // PCC_PASSES_5_LOCALIZE_EXPERTROWBUILDER_H
