//===- SinkBroadcasts.h - sinking of broadcasts below other ops -----------===//

#ifndef PCC_PASSES_1_IMPORT_BUILD_SINKBROADCASTS_H
#define PCC_PASSES_1_IMPORT_BUILD_SINKBROADCASTS_H

#include "passes/1-import/build/Emitter.h"

namespace pcc::onnx_import {

/// Creates a copy of `op` on smaller operands, and a broadcast of its result:
///
///   add(broadcast a, broadcast b) -> broadcast(add(a, b))
///
/// Attention masks are thereby computed without the batch dim. Returns the
/// value of the new broadcast, and leaves `op` to the caller. Returns null if
/// no operand can be made smaller. Supports element-wise ops, concat, slice,
/// transpose, cumsum and reshape; returns null for other ops.
mlir::Value sinkBroadcasts(mlir::Operation *op, Emitter &emitter);

/// Removes explicit broadcasts from the operands of an element-wise op. The op
/// then reads the input of the broadcast. A broadcast is removed only if the
/// op's implicit NumPy broadcasting still gives the same result shape:
///   add(x [8, 4], broadcast b [4] to [8, 4]) -> add(x [8, 4], b [4])
void absorbBroadcasts(mlir::Operation *op);

} // namespace pcc::onnx_import

#endif // PCC_PASSES_1_IMPORT_BUILD_SINKBROADCASTS_H
