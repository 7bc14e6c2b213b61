//===- SharedMemory.h - shared memory and barriers of a block -------------===//

#ifndef PCC_PASSES_7_EMIT_GPU_KERNEL_SHAREDMEMORY_H
#define PCC_PASSES_7_EMIT_GPU_KERNEL_SHAREDMEMORY_H

#include "passes/7-emit/kernel/Writer.h"

namespace pcc::emit {

/// Allocates new static shared memory of the block for `count` elements of type
/// `element`. Returns the pointer, aligned to 16 bytes.
mlir::Value allocateShared(KernelWriter &w, mlir::Type element, int64_t count);

/// Emits a barrier for all threads of the block, all of which must reach it.
/// Afterwards each thread sees the values that other threads stored before it.
void syncThreads(KernelWriter &w);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_GPU_KERNEL_SHAREDMEMORY_H
