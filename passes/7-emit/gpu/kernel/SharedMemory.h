//===- SharedMemory.h - shared memory and barriers of a block -------------===//

#ifndef PCC_PASSES_7_EMIT_GPU_KERNEL_SHAREDMEMORY_H
#define PCC_PASSES_7_EMIT_GPU_KERNEL_SHAREDMEMORY_H

#include "passes/7-emit/kernel/Writer.h"

namespace pcc::emit {

/// Allocates static shared memory of the block for `count` elements of type
/// `element`, aligned to 16 bytes. Returns the pointer. Each call allocates new
/// memory.
mlir::Value allocateShared(KernelWriter &w, mlir::Type element, int64_t count);

/// Emits a barrier: each thread of the block waits until all threads of the
/// block have reached it. Afterwards each thread sees all values that other
/// threads stored before the barrier. Every thread of the block must reach the
/// barrier.
void syncThreads(KernelWriter &w);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_GPU_KERNEL_SHAREDMEMORY_H
