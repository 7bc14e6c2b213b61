//===- TopologicalOrder.h - stable topological order of a block -----------===//

#ifndef PCC_PASSES_7_EMIT_FUSE_TOPOLOGICALORDER_H
#define PCC_PASSES_7_EMIT_FUSE_TOPOLOGICALORDER_H

#include "mlir/IR/Block.h"
#include "mlir/IR/Operation.h"

namespace pcc::emit {

/// Sorts the ops of `block`, except for the terminator, so that each op follows
/// the producers of its operands. `block` itself may violate this rule of MLIR:
/// a producer may follow its readers. In the returned list, this producer is
/// directly before its first reader. All other ops keep their order. All
/// operands must be defined in `block`, without a cycle of uses.
llvm::SmallVector<mlir::Operation *> topologicalOrder(mlir::Block &block);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_FUSE_TOPOLOGICALORDER_H
