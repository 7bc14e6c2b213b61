//===- IndexInputs.h - inputs of the model that hold indices --------------===//

#ifndef PCC_PASSES_7_EMIT_PROGRAM_INDEXINPUTS_H
#define PCC_PASSES_7_EMIT_PROGRAM_INDEXINPUTS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace pcc::emit {

/// Input of the model whose elements are indices. Example: an input holds token
/// ids, and each token id selects a row of an embedding table. The op
/// graph.check_indices ends the run with an error if an index is out of range.
/// Example: 7 is out of range for a table with 5 rows.
struct IndexInput {
  /// Argument of a stage function. The argument receives an input of the model
  /// whose elements are indices.
  mlir::BlockArgument input;
  /// Upper bound for indices in the input: each index from 0 to `size` - 1 is
  /// in range. Example: the input holds token ids, and each token id selects a
  /// row of an embedding table. `size` is the number of rows of the table.
  ///
  /// The input can also hold tuples of indices. Example: the tuple (2, 3)
  /// selects row 2 and column 3 of a matrix. If the matrix has 4 rows and 5
  /// columns, `size` is 4, the smaller of the two numbers.
  int64_t size;
};

/// Finds the function arguments that contain indices. The op
/// graph.check_indices ends the run with an error if one of its indices is out
/// of range. For each op graph.check_indices in `function`, follows the operand
/// of the op back to a function argument. Example: the operand is a slice of an
/// argument that holds token ids. Adds an entry for this argument to the
/// result. Adds no entry if the operand does not come from a function argument.
/// The entries have the order of the ops.
///
/// `function` must be a stage function after phase 6-schedule or phase 7-emit.
/// After phase 7-emit, a kernel can contain the ops between the argument and
/// the operand, such as the slice. The caller must check whether an argument is
/// an input of the model.
std::vector<IndexInput> findIndexInputs(mlir::func::FuncOp function);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_PROGRAM_INDEXINPUTS_H
