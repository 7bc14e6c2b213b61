//===- SplitReductions.h - two-stage reductions of long rows --------------===//
//
// A kernel assigns one block of threads to a row, or to a few neighboring
// columns. A reduction of few long rows, such as the norm of a large gradient,
// would therefore leave most of a GPU idle. Two reductions replace it. The
// first one reduces parts of rows, all of equal size. The second one combines
// the parts of each row:
//
//   sum over [38597376]   →  sum over dim 1 of [2784, 13864], then of [2784]
//
//===----------------------------------------------------------------------===//

#ifndef PCC_PASSES_7_EMIT_GPU_LOWER_SPLITREDUCTIONS_H
#define PCC_PASSES_7_EMIT_GPU_LOWER_SPLITREDUCTIONS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace pcc::emit {

/// Splits each reduction over long rows (sets of elements reduced together) in
/// `function` into two reductions. Partial sums and products of bf16 and f16
/// are f32. The size of the parts of a row must not depend on the number of
/// rows. Ranks with different numbers of rows thus compute equal bits for equal
/// rows.
void splitLongReductions(mlir::func::FuncOp function);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_GPU_LOWER_SPLITREDUCTIONS_H
