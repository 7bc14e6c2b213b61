//===- IndexInputs.h - inputs of the model that hold indices --------------===//

#ifndef PCC_PASSES_7_EMIT_PROGRAM_INDEXINPUTS_H
#define PCC_PASSES_7_EMIT_PROGRAM_INDEXINPUTS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace pcc::emit {

/// Input of the model whose elements are indices, such as token ids. The op
/// graph.check_indices checks at run time that they are in range.
struct IndexInput {
  /// Argument of a stage function, to which the input of the model is passed.
  mlir::BlockArgument input;
  /// Size of the dim that the elements index, such as the vocabulary size of an
  /// embedding table. An input can also hold tuples of indices: (2, 3) selects
  /// row 2 and column 3 of a matrix. For such an input, `size` is the smallest
  /// size of the indexed dims. Example: `size` is 4 for a matrix with 4 rows
  /// and 5 columns.
  int64_t size;
};

/// Returns one entry for each graph.check_indices op of `function` that checks
/// an input of the model, in program order. `function` is a stage function
/// after phase 7-emit.
std::vector<IndexInput> findIndexInputs(mlir::func::FuncOp function);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_PROGRAM_INDEXINPUTS_H
