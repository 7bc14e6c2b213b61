//===- TopologicalOrder.h - stable topological order of a block -----------===//

#ifndef PCC_PASSES_7_EMIT_FUSE_TOPOLOGICALORDER_H
#define PCC_PASSES_7_EMIT_FUSE_TOPOLOGICALORDER_H

#include "mlir/IR/Block.h"
#include "mlir/IR/Operation.h"

namespace pcc::emit {

/// Returns a list of the ops of `block`, without the terminator, in which each
/// op follows the producers of its operands. In `block` itself, a producer may
/// follow its readers. The list then has the producer directly before its first
/// reader. All other ops keep their order.
///
/// All operands must be defined in `block`, without a cycle of uses.
llvm::SmallVector<mlir::Operation *> topologicalOrder(mlir::Block &block);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_FUSE_TOPOLOGICALORDER_H
