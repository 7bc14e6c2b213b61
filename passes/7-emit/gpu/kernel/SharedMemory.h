//===- SharedMemory.h - memory of a block of threads ----------------------===//

#ifndef PCC_PASSES_7_EMIT_GPU_KERNEL_SHAREDMEMORY_H
#define PCC_PASSES_7_EMIT_GPU_KERNEL_SHAREDMEMORY_H

#include "passes/7-emit/kernel/Writer.h"

namespace pcc::emit {

/// Room for `count` elements that the threads of a block share, in the form
/// that they have in memory.
mlir::Value allocateShared(KernelWriter &w, mlir::Type element, int64_t count);

/// Waits for all threads of the block, and for what they have stored.
void syncThreads(KernelWriter &w);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_GPU_KERNEL_SHAREDMEMORY_H
