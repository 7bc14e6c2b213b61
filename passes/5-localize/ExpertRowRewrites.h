//===- ExpertRowRewrites.h - table of the ops that can run on expert rows -===//

#ifndef PCC_PASSES_5_LOCALIZE_EXPERTROWREWRITES_H
#define PCC_PASSES_5_LOCALIZE_EXPERTROWREWRITES_H

#include "passes/5-localize/ExpertRowBuilder.h"

namespace pcc::localize {

/// Functions that convert one kind of op from dense values to rows. A row is a
/// pair of an expert and a token that chose it.
struct RowRewrite {
  /// Returns the roles (expert, token or feature) of the operands' dims. The
  /// second argument holds the roles of the result's dims. Returns nullopt if
  /// the op cannot run on rows (expert-token pairs).
  std::optional<llvm::SmallVector<DimRoles>> (*rolesOf)(mlir::Operation *op,
                                                        const DimRoles &result);
  /// Builds the op on rows (expert-token pairs) and returns the rows of its
  /// result. `operands` and `result` hold the roles (expert, token or feature)
  /// of the dims of the op's operands and result.
  mlir::Value (*build)(mlir::Operation *op, llvm::ArrayRef<DimRoles> operands,
                       const DimRoles &result, ExpertRowBuilder &builder);
  /// Whether the op multiplies tokens by the matrices of experts. Only such an
  /// op makes the conversion to rows save work.
  bool multiplies = false;
};

/// Returns the functions that convert ops of the kind of `op` to rows
/// (expert-token pairs). Their rolesOf() returns nullopt if `op` cannot be
/// converted.
const RowRewrite &rowRewriteOf(mlir::Operation *op);

} // namespace pcc::localize

#endif // PCC_PASSES_5_LOCALIZE_EXPERTROWREWRITES_H
