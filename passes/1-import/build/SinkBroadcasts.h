//===- SinkBroadcasts.h - sinking of broadcasts below other ops -----------===//

#ifndef PCC_PASSES_1_IMPORT_BUILD_SINKBROADCASTS_H
#define PCC_PASSES_1_IMPORT_BUILD_SINKBROADCASTS_H

#include "passes/1-import/build/Emitter.h"

namespace pcc::onnx_import {

/// Moves broadcasts from the operands of `op` to its result: add(broadcast(a),
/// broadcast(b)) becomes broadcast(add(a, b)). Returns the new result, by which
/// the caller must replace the result of `op`. Returns null if nothing gets
/// smaller.
mlir::Value sinkBroadcasts(mlir::Operation *op, Emitter &emitter);

/// Lets the element-wise op `op` read the operands of broadcasts directly:
/// add(x, broadcast(b)) becomes add(x, b). A broadcast stays if the shape of
/// the result depends on it.
void absorbBroadcasts(mlir::Operation *op);

} // namespace pcc::onnx_import

#endif // PCC_PASSES_1_IMPORT_BUILD_SINKBROADCASTS_H
