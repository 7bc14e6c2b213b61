//===- TopologicalOrder.h - an order in which ops can run -----------------===//

#ifndef PCC_PASSES_7_EMIT_FUSE_TOPOLOGICALORDER_H
#define PCC_PASSES_7_EMIT_FUSE_TOPOLOGICALORDER_H

#include "mlir/IR/Block.h"
#include "mlir/IR/Operation.h"

namespace pcc::emit {

/// The ops of `block` but for its terminator, each behind what it reads and
/// otherwise in their order.
llvm::SmallVector<mlir::Operation *> topologicalOrder(mlir::Block &block);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_FUSE_TOPOLOGICALORDER_H
