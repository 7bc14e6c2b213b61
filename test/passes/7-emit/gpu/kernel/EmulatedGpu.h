//===- EmulatedGpu.h - kernels of a GPU, executed by the host -------------===//
//
// Threads of a block are fibers that take turns and wait for each other at
// barriers and shuffles. Special registers, barriers, shuffles and libdevice
// become calls of functions in this file. All other code is that from which PTX
// is generated.
//
//===----------------------------------------------------------------------===//

#ifndef PCC_TEST_PASSES_7_EMIT_EMULATEDGPU_H
#define PCC_TEST_PASSES_7_EMIT_EMULATEDGPU_H

#include "mlir/IR/BuiltinOps.h"
#include "passes/7-emit/gpu/kernel/GpuPlan.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include <string>
#include <vector>

namespace pcc::emit {

/// The kernels of a module, lowered for a GPU and compiled for the host.
class EmulatedGpu {
public:
  explicit EmulatedGpu(mlir::ModuleOp module);

  /// Runs kernel `number` on buffers that are aligned to 16 bytes. Returns an
  /// error, or an empty string.
  std::string run(size_t number, std::vector<void *> buffers,
                  const std::vector<int64_t> &scalars);
  /// Runs kernel `number` with another grid than that of its plan.
  std::string run(size_t number, int64_t blocks, int64_t threads,
                  std::vector<void *> buffers,
                  const std::vector<int64_t> &scalars);

private:
  std::unique_ptr<llvm::orc::LLJIT> jit;
  std::vector<GpuPlan> plans;
  std::string error;
};

} // namespace pcc::emit

#endif // PCC_TEST_PASSES_7_EMIT_EMULATEDGPU_H
