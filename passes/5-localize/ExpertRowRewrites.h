//===- ExpertRowRewrites.h - how ops run on rows --------------------------===//

#ifndef PCC_PASSES_5_LOCALIZE_EXPERTROWREWRITES_H
#define PCC_PASSES_5_LOCALIZE_EXPERTROWREWRITES_H

#include "passes/5-localize/ExpertRowBuilder.h"

namespace pcc::localize {

/// How an op runs on rows.
struct RowRewrite {
  /// How its operands lie where its result lies as `result` says; none if it
  /// does not treat rows alone.
  std::optional<llvm::SmallVector<DimRoles>> (*rolesOf)(mlir::Operation *op,
                                                        const DimRoles &result);
  /// The rows of its result.
  mlir::Value (*build)(mlir::Operation *op, llvm::ArrayRef<DimRoles> operands,
                       const DimRoles &result, ExpertRowBuilder &builder);
  /// It multiplies rows with their experts' matrices.
  bool multiplies = false;
};

/// The form of `op`; that of element-wise ops for those without one of their
/// own.
const RowRewrite &rowRewriteOf(mlir::Operation *op);

} // namespace pcc::localize

#endif // PCC_PASSES_5_LOCALIZE_EXPERTROWREWRITES_H
