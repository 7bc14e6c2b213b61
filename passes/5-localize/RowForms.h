//===- RowForms.h - how ops run on rows -----------------------------------===//

#ifndef PCC_PASSES_5_LOCALIZE_ROWFORMS_H
#define PCC_PASSES_5_LOCALIZE_ROWFORMS_H

#include "passes/5-localize/RowBuilder.h"

namespace pcc::localize {

/// How an op runs on rows.
struct RowForm {
  /// How its operands lie where its result lies as `result` says; none if it
  /// does not treat rows alone.
  std::optional<llvm::SmallVector<Roles>> (*rolesOf)(mlir::Operation *op,
                                                     const Roles &result);
  /// The rows of its result.
  mlir::Value (*build)(mlir::Operation *op, llvm::ArrayRef<Roles> operands,
                       const Roles &result, RowBuilder &builder);
  /// It multiplies rows with their experts' matrices.
  bool multiplies = false;
};

/// The form of `op`; that of element-wise ops for those without one of their
/// own.
const RowForm &rowFormOf(mlir::Operation *op);

} // namespace pcc::localize

#endif // PCC_PASSES_5_LOCALIZE_ROWFORMS_H
