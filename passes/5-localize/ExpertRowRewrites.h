//===- ExpertRowRewrites.h - table of the ops that can run on expert rows -===//

#ifndef PCC_PASSES_5_LOCALIZE_EXPERTROWREWRITES_H
#define PCC_PASSES_5_LOCALIZE_EXPERTROWREWRITES_H

#include "passes/5-localize/ExpertRowBuilder.h"

namespace pcc::localize {

/// Functions that convert one kind of op from its dense form to rows.
/// GroupExperts first asks rolesOf() of all ops above a combine step, and then
/// builds those that can be converted.
struct RowRewrite {
  /// Returns the roles of the dims of each operand, given the roles of the dims
  /// of the result. Returns nullopt if `op` cannot run on rows, because it
  /// mixes rows or has an unsupported form.
  std::optional<llvm::SmallVector<DimRoles>> (*rolesOf)(mlir::Operation *op,
                                                        const DimRoles &result);
  /// Builds the op on rows with `builder`, and returns the rows of its result.
  /// `operands` are the roles that rolesOf() has returned for `result`.
  mlir::Value (*build)(mlir::Operation *op, llvm::ArrayRef<DimRoles> operands,
                       const DimRoles &result, ExpertRowBuilder &builder);
  /// Whether the op multiplies tokens by the matrices of experts. Only such ops
  /// make the conversion worthwhile.
  bool multiplies = false;
};

/// Returns the functions for the kind of `op`. Kinds without an entry get those
/// of element-wise ops, whose rolesOf() returns nullopt unless `op` is
/// element-wise.
const RowRewrite &rowRewriteOf(mlir::Operation *op);

} // namespace pcc::localize

#endif // PCC_PASSES_5_LOCALIZE_EXPERTROWREWRITES_H
