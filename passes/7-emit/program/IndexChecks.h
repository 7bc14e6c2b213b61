//===- IndexChecks.h - inputs of the model that index a table -------------===//

#ifndef PCC_PASSES_7_EMIT_PROGRAM_INDEXCHECKS_H
#define PCC_PASSES_7_EMIT_PROGRAM_INDEXCHECKS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <optional>

namespace pcc::emit {

/// One read of a table by indices that are elements of an input of the model,
/// such as token ids that index an embedding table. Between the input and the
/// read there may be casts, layout ops, slices, masks, collectives, and the
/// index arithmetic of 5-localize. Valid indices are in [-size, size): a
/// negative index counts from the end of the table.
struct IndexUse {
  /// The input: an argument of the function that reads the table, or of another
  /// function of the stage whose result that function takes.
  mlir::BlockArgument input;
  /// The op of the stage function that reads the table, perhaps the launch of a
  /// kernel that does.
  mlir::Operation *user;
  /// Rows of the whole table, over all ranks.
  int64_t size;
  /// Input elements of this value do not read the table, such as a loss's
  /// ignore_index.
  std::optional<int64_t> ignored;
  /// Whether every input element reads the table. False if the model slices or
  /// masks the input before the read: the elements left out may have any value.
  bool allUsed;
  /// The table as messages call it: the quoted name of its weight, or else a
  /// phrase such as `the table of "embed"` with the node's name.
  std::string table;
  /// Name of the node that reads the table.
  std::string node;
};

/// Returns all reads of tables in `function`, a stage function after 7-emit, in
/// program order. Reads that agree in input, size, ignored value and `allUsed`
/// are returned once.
std::vector<IndexUse> findIndexUses(mlir::func::FuncOp function);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_PROGRAM_INDEXCHECKS_H
