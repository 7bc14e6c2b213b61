//===- SharedMemory.h - shared memory and barriers of a block -------------===//

#ifndef PCC_PASSES_7_EMIT_GPU_KERNEL_SHAREDMEMORY_H
#define PCC_PASSES_7_EMIT_GPU_KERNEL_SHAREDMEMORY_H

#include "passes/7-emit/kernel/Writer.h"

namespace pcc::emit {

/// Allocates new static shared memory of the block for `count` elements of type
/// `element`. Returns the pointer, aligned to 16 bytes.
mlir::Value allocateShared(KernelWriter &w, mlir::Type element, int64_t count);

/// Emits a barrier. All threads of the block must reach the barrier. After the
/// barrier, each thread sees the values that the other threads of the block
/// stored before the barrier.
void syncThreads(KernelWriter &w);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_GPU_KERNEL_SHAREDMEMORY_H
