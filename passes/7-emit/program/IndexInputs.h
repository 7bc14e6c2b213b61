//===- IndexInputs.h - inputs of the model that hold indices --------------===//

#ifndef PCC_PASSES_7_EMIT_PROGRAM_INDEXINPUTS_H
#define PCC_PASSES_7_EMIT_PROGRAM_INDEXINPUTS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace pcc::emit {

/// An input of the model whose elements are checked as indices, such as token
/// ids that index an embedding table. Between the input and the check there may
/// be casts, layout ops, slices, masks and collectives.
struct IndexInput {
  /// The input, as an argument of a function: the one that checks the indices,
  /// or an earlier one of the stage that passes them to it.
  mlir::BlockArgument input;
  /// Number of elements of the smallest indexed dim.
  int64_t size;
};

/// Returns all inputs that `function`, a stage function after phase 7-emit,
/// checks as indices, in program order.
std::vector<IndexInput> findIndexInputs(mlir::func::FuncOp function);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_PROGRAM_INDEXINPUTS_H
