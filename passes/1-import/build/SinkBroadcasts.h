//===- SinkBroadcasts.h - sinking of broadcasts below other ops -----------===//

#ifndef PCC_PASSES_1_IMPORT_BUILD_SINKBROADCASTS_H
#define PCC_PASSES_1_IMPORT_BUILD_SINKBROADCASTS_H

#include "passes/1-import/build/Emitter.h"

namespace pcc::onnx_import {

/// Returns whether each element of `op`'s result depends only on the operand
/// elements at the same index, broadcasting aside.
bool isElementWise(mlir::Operation *op);

/// Rewrites an op on broadcast operands as the broadcast of the op on smaller
/// operands, where the op treats all repeated slices alike:
///   add(broadcast a, broadcast b) -> broadcast(add(a, b))
/// As a result, masks and positions are computed without the batch dim. Returns
/// the new value, or null if no operand can be made smaller. `op` itself stays;
/// the caller erases it if it is replaced. Handles element-wise ops, concat,
/// slice, transpose, cumsum and reshape.
mlir::Value sinkBroadcasts(mlir::Operation *op, Emitter &emitter);

/// Replaces broadcast operands of an element-wise op by their sources where the
/// op's implicit broadcasting still gives the same result shape:
///   add(x [8, 4], broadcast b [4] to [8, 4]) -> add(x [8, 4], b [4])
void absorbBroadcasts(mlir::Operation *op);

} // namespace pcc::onnx_import

#endif // PCC_PASSES_1_IMPORT_BUILD_SINKBROADCASTS_H
