//===- UserSchedule.h - a schedule that a user wrote ----------------------===//

#ifndef PCC_PASSES_6_SCHEDULE_USERSCHEDULE_H
#define PCC_PASSES_6_SCHEDULE_USERSCHEDULE_H

#include "mlir/IR/BuiltinOps.h"
#include "passes/plan/schedule/ActionTable.h"

#include <optional>

namespace pcc::schedule {

/// On the module, if `pipe.schedule` is `csv`: StringAttr, the actions of every
/// position as in PyTorch's schedule files, a line each.
inline constexpr llvm::StringLiteral scheduleTableName = "pipe.table";

/// The module's number `name`, 1 if it has none.
int moduleNumber(mlir::ModuleOp module, llvm::StringRef name);

/// The table of `pipe.table`, if the module has one. It must fit the module's
/// stages and microbatches; what does not is said at the module.
mlir::FailureOr<std::optional<plan::ActionTable>>
userActionTable(mlir::ModuleOp module);

} // namespace pcc::schedule

#endif // PCC_PASSES_6_SCHEDULE_USERSCHEDULE_H
