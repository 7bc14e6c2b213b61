//===- SplitReductions.h - rows that are too long for one block -----------===//
//
// A row has one block of threads, so that the norm of a large gradient, or the
// sum of a tensor's columns, would leave most of a GPU idle. Long rows are cut
// into parts of equal size, which are rows of their own:
//
//   sum over [38597376]   →  sum over dim 1 of [2784, 13864], then of [2784]
//
//===----------------------------------------------------------------------===//

#ifndef PCC_PASSES_7_EMIT_GPU_LOWER_SPLITREDUCTIONS_H
#define PCC_PASSES_7_EMIT_GPU_LOWER_SPLITREDUCTIONS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace pcc::emit {

/// Replaces reductions over long rows by two each; sums of narrow floats are
/// f32 between them. Where rows are cut depends on their length alone, not on
/// how many there are: a row's bits are the same on every rank.
void splitLongReductions(mlir::func::FuncOp function);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_GPU_LOWER_SPLITREDUCTIONS_H
