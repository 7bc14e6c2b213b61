//===- SinkBroadcasts.h - sinking of broadcasts below other ops -----------===//

#ifndef PCC_PASSES_1_IMPORT_BUILD_SINKBROADCASTS_H
#define PCC_PASSES_1_IMPORT_BUILD_SINKBROADCASTS_H

#include "passes/1-import/build/Emitter.h"

namespace pcc::onnx_import {

/// Moves broadcasts of operands below `op`, so that `op` works on smaller
/// operands:
///   add(broadcast a, broadcast b) -> broadcast(add(a, b))
/// Attention masks and token positions are therefore computed without the batch
/// dim. Returns the value of the new broadcast; null if no operand can be made
/// smaller. `op` itself stays, and the caller erases it. Supports element-wise
/// ops, concat, slice, transpose, cumsum and reshape; returns null for other
/// ops.
mlir::Value sinkBroadcasts(mlir::Operation *op, Emitter &emitter);

/// Removes explicit broadcasts from the operands of an element-wise op. The op
/// then reads the input of the broadcast. A broadcast is removed only if the
/// op's implicit NumPy broadcasting still gives the same result shape:
///   add(x [8, 4], broadcast b [4] to [8, 4]) -> add(x [8, 4], b [4])
void absorbBroadcasts(mlir::Operation *op);

} // namespace pcc::onnx_import

#endif // PCC_PASSES_1_IMPORT_BUILD_SINKBROADCASTS_H
