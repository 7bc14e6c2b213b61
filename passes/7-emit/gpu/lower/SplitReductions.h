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

/// Replaces each reduction over long rows in `function` by two reductions. The
/// first one reduces parts of rows, and the second one combines the parts of
/// each row. Between them, sums and products of bf16 and f16 stay in f32.
///
/// The size of the parts depends on the reduced dims and on whether rows are
/// contiguous or columns, but not on the number of rows. Therefore ranks that
/// hold different numbers of rows compute the same bits for the same row.
void splitLongReductions(mlir::func::FuncOp function);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_GPU_LOWER_SPLITREDUCTIONS_H
