//===- IndexChecks.h - which inputs are used as indices -------------------===//

#ifndef PCC_PASSES_7_EMIT_PROGRAM_INDEXCHECKS_H
#define PCC_PASSES_7_EMIT_PROGRAM_INDEXCHECKS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <optional>

namespace pcc::emit {

/// An input of the model that picks from a table, directly or after steps that
/// keep its values: [-size, size) is what the table has.
struct IndexUse {
  mlir::BlockArgument input; ///< of the function, or of what its stage shares
  mlir::Operation *user;     ///< in the function: what reads the table
  int64_t size;
  std::optional<int64_t> ignored; ///< elements of this value index nothing
  bool allUsed;      ///< false where the model leaves elements of the input out
  std::string table; ///< name of the table's weight, or of the node
  std::string node;
};

/// All such uses, in program order, each input once per size, ignored
/// value, and whether elements are left out.
std::vector<IndexUse> findIndexUses(mlir::func::FuncOp function);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_PROGRAM_INDEXCHECKS_H
