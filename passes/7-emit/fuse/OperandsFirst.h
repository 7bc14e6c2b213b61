//===- OperandsFirst.h - an order in which ops can run --------------------===//

#ifndef PCC_PASSES_7_EMIT_FUSE_OPERANDSFIRST_H
#define PCC_PASSES_7_EMIT_FUSE_OPERANDSFIRST_H

#include "mlir/IR/Block.h"
#include "mlir/IR/Operation.h"

namespace pcc::emit {

/// The ops of `block` but for its terminator, each behind what it reads and
/// otherwise in their order.
llvm::SmallVector<mlir::Operation *> operandsFirst(mlir::Block &block);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_FUSE_OPERANDSFIRST_H
