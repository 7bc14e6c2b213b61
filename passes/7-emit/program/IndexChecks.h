//===- IndexChecks.h - inputs of the model that index a table -------------===//

#ifndef PCC_PASSES_7_EMIT_PROGRAM_INDEXCHECKS_H
#define PCC_PASSES_7_EMIT_PROGRAM_INDEXCHECKS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <optional>

namespace pcc::emit {

/// Read of a table by indices that come from an input of the model, such as
/// token ids that index an embedding table. Between the input and the read
/// there may be casts, layout ops, slices, masks, collectives, and the index
/// arithmetic of phase 5-localize. Valid indices are in [-size, size): a
/// negative index counts from the end of the table.
struct IndexUse {
  /// Input of the model, as an argument of a stage function. This function
  /// reads the table itself, or passes the indices to a later function of the
  /// stage that reads the table.
  mlir::BlockArgument input;
  /// Op of the stage function that reads the table: a gather, or the launch of
  /// a kernel that contains a gather.
  mlir::Operation *user;
  /// Number of rows of the whole table, over all ranks.
  int64_t size;
  /// Value that marks elements of the input that the model skips, such as the
  /// ignore_index of a loss. Elements with this value need not be valid
  /// indices. std::nullopt if the model has no such value.
  std::optional<int64_t> ignored;
  /// Whether the model uses every element of the input as an index. False if
  /// the model slices or masks the input before the read; the skipped elements
  /// may have any value.
  bool allUsed;
  /// Name of the table for error messages. If the table is a weight, this is
  /// the quoted name of the weight. Otherwise it is a phrase such as `the table
  /// of "embed"` with the name of the ONNX node.
  std::string table;
  /// Name of the ONNX node that reads the table.
  std::string node;
};

/// Returns all reads of tables by inputs in `function`, a stage function after
/// phase 7-emit, in program order. If several reads have equal input, size,
/// ignored value and `allUsed`, returns only the first of them.
std::vector<IndexUse> findIndexUses(mlir::func::FuncOp function);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_PROGRAM_INDEXCHECKS_H
