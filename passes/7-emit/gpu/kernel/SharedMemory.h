//===- SharedMemory.h - shared memory and barriers of a block -------------===//

#ifndef PCC_PASSES_7_EMIT_GPU_KERNEL_SHAREDMEMORY_H
#define PCC_PASSES_7_EMIT_GPU_KERNEL_SHAREDMEMORY_H

#include "passes/7-emit/kernel/Writer.h"

namespace pcc::emit {

/// Allocates static shared memory for `count` elements, in the storage type of
/// `element` and aligned to 16 bytes. Returns the pointer. Each call allocates
/// memory of its own.
mlir::Value allocateShared(KernelWriter &w, mlir::Type element, int64_t count);

/// Emits a barrier of all threads of the block. Afterwards each thread sees the
/// earlier stores of all others. Every thread of the block must reach the
/// barrier.
void syncThreads(KernelWriter &w);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_GPU_KERNEL_SHAREDMEMORY_H
