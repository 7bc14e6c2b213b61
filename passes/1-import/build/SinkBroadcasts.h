//===- SinkBroadcasts.h - sinking of broadcasts below other ops -----------===//

#ifndef PCC_PASSES_1_IMPORT_BUILD_SINKBROADCASTS_H
#define PCC_PASSES_1_IMPORT_BUILD_SINKBROADCASTS_H

#include "passes/1-import/build/Emitter.h"

namespace pcc::onnx_import {

/// Replaces the broadcasts of the operands of `op` by one broadcast of the
/// result, so that fewer elements are computed:
///
///   add(broadcast a, broadcast b) -> broadcast(add(a, b))
///
/// Supports element-wise ops, concat, slice, transpose, cumsum and reshape.
/// Returns the new broadcast; the caller must erase `op`. Returns null if this
/// would not reduce the number of computed elements.
mlir::Value sinkBroadcasts(mlir::Operation *op, Emitter &emitter);

/// Removes a broadcast from an operand of the element-wise op `op` if the
/// implicit broadcasting of `op`, as in NumPy, has the same effect:
///
///   add(x [8, 4], broadcast b [4] to [8, 4]) -> add(x [8, 4], b [4])
void absorbBroadcasts(mlir::Operation *op);

} // namespace pcc::onnx_import

#endif // PCC_PASSES_1_IMPORT_BUILD_SINKBROADCASTS_H
