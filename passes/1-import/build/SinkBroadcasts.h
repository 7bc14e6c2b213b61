//===- SinkBroadcasts.h - sinking of broadcasts below other ops -----------===//

#ifndef PCC_PASSES_1_IMPORT_BUILD_SINKBROADCASTS_H
#define PCC_PASSES_1_IMPORT_BUILD_SINKBROADCASTS_H

#include "passes/1-import/build/Emitter.h"

namespace pcc::onnx_import {

/// Creates ops that have the same result as `op`, but compute fewer elements.
/// At least one operand of `op` must be the result of a broadcast op. The
/// function creates an op like `op` that reads the operands of the broadcast
/// ops, and a broadcast of the result of this new op. In the example, `a` and
/// `b` have the shape [4]:
///
///   before   add(broadcast(a, [8, 4]), broadcast(b, [8, 4]))   32 sums
///   after    broadcast(add(a, b), [8, 4])                      4 sums
///
/// Returns the result of the new broadcast. The caller must then erase `op`.
/// Supports element-wise ops, concat, slice, transpose, cumsum and reshape.
/// Returns null if `op` is another op, if no operand is the result of a
/// broadcast op, or if the new op would compute as many elements as `op`.
mlir::Value sinkBroadcasts(mlir::Operation *op, Emitter &emitter);

/// Removes a broadcast from an operand of the element-wise op `op` if the
/// implicit broadcasting of `op`, as in NumPy, has the same effect:
///
///   add(x [8, 4], broadcast b [4] to [8, 4]) -> add(x [8, 4], b [4])
void absorbBroadcasts(mlir::Operation *op);

} // namespace pcc::onnx_import

#endif // PCC_PASSES_1_IMPORT_BUILD_SINKBROADCASTS_H
