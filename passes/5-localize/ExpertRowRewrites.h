//===- ExpertRowRewrites.h - table of the ops that can run on expert rows -===//

#ifndef PCC_PASSES_5_LOCALIZE_EXPERTROWREWRITES_H
#define PCC_PASSES_5_LOCALIZE_EXPERTROWREWRITES_H

#include "passes/5-localize/ExpertRowBuilder.h"

namespace pcc::localize {

/// Functions that convert one kind of op to rows. A row is a pair of an expert
/// and a token that chose this expert. Example: 6 tokens choose 2 of 8 experts
/// each. Before the conversion, the op computes all 48 pairs, and its result
/// has the shape [8, 6, H]. After the conversion, the op computes only the 12
/// rows, and its result has the shape [12, H].
struct RowRewrite {
  /// Returns the kinds of the dims (expert, token or feature) of all operands
  /// of `op`. `result` has the kinds of the dims of the result. Returns nullopt
  /// if `op` cannot be converted so that it computes only the chosen (token,
  /// expert) pairs.
  std::optional<llvm::SmallVector<DimRoles>> (*rolesOf)(mlir::Operation *op,
                                                        const DimRoles &result);
  /// Builds ops that compute only the chosen (token, expert) pairs of `op`.
  /// Returns their result, such as [12 pairs, H] instead of [8 experts, 6
  /// tokens, H]. `operands` and `result` are the kinds of the dims of all
  /// operands and of the result of `op`.
  mlir::Value (*build)(mlir::Operation *op, llvm::ArrayRef<DimRoles> operands,
                       const DimRoles &result, ExpertRowBuilder &builder);
  /// Whether the op multiplies tokens by the matrices of experts. A mixture of
  /// experts is converted only if this is true for at least one of its ops.
  bool multiplies = false;
};

/// Returns the functions that convert `op` to rows. A row is a pair of an
/// expert and a token that chose this expert. A converted op computes only the
/// rows, instead of all pairs of an expert and a token. If `op` cannot be
/// converted, the returned function `rolesOf` returns nullopt for `op`.
const RowRewrite &rowRewriteOf(mlir::Operation *op);

} // namespace pcc::localize

#endif // PCC_PASSES_5_LOCALIZE_EXPERTROWREWRITES_H
