//===- SinkBroadcasts.h - ops below broadcasts instead of above them ------===//

#ifndef PCC_PASSES_1_IMPORT_BUILD_SINKBROADCASTS_H
#define PCC_PASSES_1_IMPORT_BUILD_SINKBROADCASTS_H

#include "passes/1-import/build/Emitter.h"

namespace pcc::onnx_import {

/// Ops whose result at a place depends on the operands at this place only.
bool isElementWise(mlir::Operation *op);

/// If `op` treats alike what its operands repeat along some dims, the same
/// value as a broadcast of the op on operands without these repetitions:
///   add(broadcast a, broadcast b) -> broadcast(add(a, b))
/// so that masks and positions stay free of the batch. Null if there is nothing
/// to gain. `op` stays.
mlir::Value sinkBroadcasts(mlir::Operation *op, Emitter &emitter);

/// Lets an element-wise op repeat its operands itself, where the result stays
/// the same.
void absorbBroadcasts(mlir::Operation *op);

} // namespace pcc::onnx_import

#endif // PCC_PASSES_1_IMPORT_BUILD_SINKBROADCASTS_H
