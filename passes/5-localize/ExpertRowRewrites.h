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
  /// Returns the roles of the dims of all operands of `op`. A role says whether
  /// a dim counts experts, counts tokens or holds features. `result` holds the
  /// roles of the dims of the result of `op`. Example: an add has the result
  /// [8, 6, 4] and the operands [8, 6, 4] and [6, 4].
  ///
  ///   result      [8, 6, 4]   Expert, Token, Feature
  ///   operand 0   [8, 6, 4]   Expert, Token, Feature
  ///   operand 1   [6, 4]      Token, Feature
  ///
  /// Returns nullopt if `op` cannot run on rows. A row is a pair of an expert
  /// and a token that chose this expert. An op that runs on rows computes only
  /// these pairs.
  std::optional<llvm::SmallVector<DimRoles>> (*rolesOf)(mlir::Operation *op,
                                                        const DimRoles &result);
  /// Builds the converted form of `op`, and returns its result. The converted
  /// form computes only rows. A row is a pair of an expert and a token that
  /// chose this expert. Example: the result of `op` has the shape [8, 6, H] for
  /// all pairs of 8 experts and 6 tokens. The returned tensor has the shape
  /// [12, H] for the 12 pairs in which the token chose the expert.
  ///
  /// `operands` holds the roles of the dims of each operand of `op`. `result`
  /// holds the roles of the dims of the result of `op`. A role says whether a
  /// dim counts experts, counts tokens or holds features. `builder` creates the
  /// new ops.
  mlir::Value (*build)(mlir::Operation *op, llvm::ArrayRef<DimRoles> operands,
                       const DimRoles &result, ExpertRowBuilder &builder);
  /// Whether the op multiplies tokens by the matrices of experts, as a matmul
  /// does. The compiler can convert the ops of a mixture of experts, so that
  /// they compute fewer elements. Before the conversion, an op computes all
  /// pairs of an expert and a token. After the conversion, the op computes only
  /// the pairs in which the token chose the expert.
  ///
  /// The compiler converts the ops of a mixture of experts only if this member
  /// is true for at least one of the ops. Example: each token chooses 2 of 8
  /// experts. Before the conversion, a matmul multiplies each token by 8
  /// matrices. After the conversion, the matmul multiplies each token by 2
  /// matrices.
  bool multiplies = false;
};

/// Returns the functions that convert `op` to rows. A row is a pair of an
/// expert and a token that chose this expert. A converted op computes only the
/// rows, instead of all pairs of an expert and a token. If `op` cannot be
/// converted, the returned function `rolesOf` returns nullopt for `op`.
const RowRewrite &rowRewriteOf(mlir::Operation *op);

} // namespace pcc::localize

#endif // PCC_PASSES_5_LOCALIZE_EXPERTROWREWRITES_H
