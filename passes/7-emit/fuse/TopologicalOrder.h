//===- TopologicalOrder.h - stable topological order of a block -----------===//

#ifndef PCC_PASSES_7_EMIT_FUSE_TOPOLOGICALORDER_H
#define PCC_PASSES_7_EMIT_FUSE_TOPOLOGICALORDER_H

#include "mlir/IR/Block.h"
#include "mlir/IR/Operation.h"

namespace pcc::emit {

/// Returns the ops of `block`, except for the terminator, in an order in which
/// each op follows the producers of its operands. Keeps the order of the block
/// where possible. A producer that follows one of its readers moves directly
/// before its first reader. In `block`, producers may follow their readers,
/// although MLIR forbids it. All operands must be defined in `block`, without a
/// cycle of uses.
llvm::SmallVector<mlir::Operation *> topologicalOrder(mlir::Block &block);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_FUSE_TOPOLOGICALORDER_H
