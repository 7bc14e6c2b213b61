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

/// Removes a broadcast from an operand of the element-wise op `op` if the
/// implicit broadcasting of `op`, as in NumPy, has the same effect:
///
///   add(x [8, 4], broadcast b [4] to [8, 4]) -> add(x [8, 4], b [4])
void absorbBroadcasts(mlir::Operation *op);

} // namespace pcc::onnx_import

#endif // PCC_PASSES_1_IMPORT_BUILD_SINKBROADCASTS_H
