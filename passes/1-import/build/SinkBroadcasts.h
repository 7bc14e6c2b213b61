//===- SinkBroadcasts.h - sinking of broadcasts below other ops -----------===//

#ifndef PCC_PASSES_1_IMPORT_BUILD_SINKBROADCASTS_H
#define PCC_PASSES_1_IMPORT_BUILD_SINKBROADCASTS_H

#include "passes/1-import/build/Emitter.h"

namespace pcc::onnx_import {

/// Creates ops that compute the result of `op` with less work: the new ops
/// broadcast the result instead of the operands. Returns the new result. The
/// caller must replace the result of `op` by the new result, and must erase
/// `op`. Returns null if there are no such ops. Supports element-wise ops,
/// concat, slice, transpose, cumsum and reshape. Example, where `a` and `b`
/// have the shape [4]:
///
///   op        add(broadcast(a, [8, 4]), broadcast(b, [8, 4]))   32 sums
///   new ops   broadcast(add(a, b), [8, 4])                      4 sums
mlir::Value sinkBroadcasts(mlir::Operation *op, Emitter &emitter);

/// Lets the element-wise op `op` read the operand of a broadcast op directly.
/// The result of `op` stays the same, because `op` itself broadcasts its
/// operands, as in NumPy. A broadcast stays if the result of `op` would have
/// another shape without the broadcast. Example, where `x` has the shape [8, 4]
/// and `b` has the shape [4]:
///
///   before   add(x, broadcast(b, [8, 4]))
///   after    add(x, b)
void absorbBroadcasts(mlir::Operation *op);

} // namespace pcc::onnx_import

#endif // PCC_PASSES_1_IMPORT_BUILD_SINKBROADCASTS_H
