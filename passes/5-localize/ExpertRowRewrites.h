//===- ExpertRowRewrites.h - table of the ops that can run on expert rows -===//

#ifndef PCC_PASSES_5_LOCALIZE_EXPERTROWREWRITES_H
#define PCC_PASSES_5_LOCALIZE_EXPERTROWREWRITES_H

#include "passes/5-localize/ExpertRowBuilder.h"

namespace pcc::localize {

/// Functions that convert one kind of op from dense values to rows. A row is
/// one pair of an expert and a token that chose it. GroupExperts first calls
/// rolesOf() for the ops that compute the operands of a combine step (weighted
/// sum of expert outputs). It then calls build() for the ops that can be
/// converted.
struct RowRewrite {
  /// Returns the roles (expert, token or feature) of the dims of each operand.
  /// The argument after the op holds the roles of the result's dims. Returns
  /// nullopt if `op` cannot run on rows (pairs of an expert and a token): a row
  /// of its result depends on several rows of an operand, or its form is not
  /// supported.
  std::optional<llvm::SmallVector<DimRoles>> (*rolesOf)(mlir::Operation *op,
                                                        const DimRoles &result);
  /// Builds the op on rows (pairs of an expert and a token) with `builder`, and
  /// returns the rows of its result. `result` holds the roles of the result's
  /// dims. `operands` holds the roles of the operands' dims, as rolesOf()
  /// returned them for `result`.
  mlir::Value (*build)(mlir::Operation *op, llvm::ArrayRef<DimRoles> operands,
                       const DimRoles &result, ExpertRowBuilder &builder);
  /// Whether the op multiplies tokens by the matrices of experts. The
  /// conversion to rows saves work only if there is such an op.
  bool multiplies = false;
};

/// Returns the functions that convert ops of the kind of `op` to rows (pairs of
/// an expert and a token). A kind without an entry gets the functions for
/// element-wise ops; their rolesOf() returns nullopt if `op` is not
/// element-wise.
const RowRewrite &rowRewriteOf(mlir::Operation *op);

} // namespace pcc::localize

#endif // PCC_PASSES_5_LOCALIZE_EXPERTROWREWRITES_H
