//===- SinkBroadcasts.h - sinking of broadcasts below other ops -----------===//

#ifndef PCC_PASSES_1_IMPORT_BUILD_SINKBROADCASTS_H
#define PCC_PASSES_1_IMPORT_BUILD_SINKBROADCASTS_H

#include "passes/1-import/build/Emitter.h"

namespace pcc::onnx_import {

/// Creates new ops that compute the result of `op` with less work. In the
/// example, `op` is an add op, and `a` and `b` have the shape [4]:
///
///   op        add(broadcast(a, [8, 4]), broadcast(b, [8, 4]))   32 sums
///   new ops   broadcast(add(a, b), [8, 4])                      4 sums
///
/// In the example, the new add op computes 4 sums from `a` and `b`. The new
/// broadcast op then repeats the 4 sums 8 times. The function returns the
/// result of the new broadcast op, and leaves `op` unchanged. The caller must
/// use the returned value in place of the result of `op`, and must erase `op`.
///
/// Supports element-wise ops, concat, slice, transpose, cumsum and reshape.
/// Returns null in each of these cases:
///
///  - `op` is another op.
///  - No operand of `op` is the result of a broadcast op.
///  - The new ops would not save work. For example, if `a` has the shape [8, 1]
///    and `b` has the shape [1, 4], add(a, b) also computes 32 sums.
mlir::Value sinkBroadcasts(mlir::Operation *op, Emitter &emitter);

/// Lets the element-wise op `op` bypass broadcast ops. If an operand of `op` is
/// the result of a broadcast op, `op` then reads the operand of the broadcast
/// op. The result of `op` stays the same, because `op` itself broadcasts its
/// operands, as in NumPy. In the example, `x` has the shape [8, 4], and `b` has
/// the shape [4]:
///
///   before   add(x, broadcast(b, [8, 4]))
///   after    add(x, b)
///
/// The function does not change an operand if the result of `op` would get
/// another shape. For example, `a` and `b` have the shape [4], and `op` is
/// add(broadcast(a, [8, 4]), broadcast(b, [8, 4])). The function changes `op`
/// to add(a, broadcast(b, [8, 4])) and keeps the broadcast of `b`. Without this
/// broadcast, the result would have the shape [4].
void absorbBroadcasts(mlir::Operation *op);

} // namespace pcc::onnx_import

#endif // PCC_PASSES_1_IMPORT_BUILD_SINKBROADCASTS_H
