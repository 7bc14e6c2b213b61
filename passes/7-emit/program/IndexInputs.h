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
  /// Exclusive upper bound of the indices, such as the number of rows of an
  /// embedding table. If the input holds tuples of indices, this is the size of
  /// the smallest dim that they index.
  int64_t size;
};

/// Finds the function arguments that supply the indices of graph.check_indices
/// ops in `function`. Leaves out indices that do not come from an argument.
/// `function` is a stage function after phase 6-schedule or 7-emit. The
/// arguments can belong to other stage functions, and need not be inputs of the
/// model.
std::vector<IndexInput> findIndexInputs(mlir::func::FuncOp function);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_PROGRAM_INDEXINPUTS_H
