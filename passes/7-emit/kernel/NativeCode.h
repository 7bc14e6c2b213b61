//===- NativeCode.h - kernels compiled to native objects ------------------===//

#ifndef PCC_PASSES_7_EMIT_KERNEL_NATIVECODE_H
#define PCC_PASSES_7_EMIT_KERNEL_NATIVECODE_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Passes/PassBuilder.h"
#include <string>
#include <vector>

namespace pcc::emit {

/// All kernels, compiled for one CPU.
struct KernelObject {
  /// CPU name, as given to compileKernels().
  std::string cpu;
  /// Contents of a relocatable ELF file.
  std::vector<char> bytes;
};

/// Compiles all kernels of `module` for each of `cpus`. A CPU is an LLVM name
/// ("x86-64-v3"), optionally with features ("x86-64-v4,+avx512bf16"). Returns
/// one object per CPU in the order of `cpus`. On failure emits an error.
///
/// Kernel n of lowerKernels() is called `pcc_k_<n>_<c>` in the object of CPU
/// number c. The code is position-independent, writes no globals, and calls
/// only libm, memcpy and memset. Equal modules give equal bytes.
///
/// Loads dialects, so it must not run within a pass. Uses one thread per CPU
/// name and blocks until all are done.
mlir::FailureOr<std::vector<KernelObject>>
compileKernels(mlir::ModuleOp module, llvm::ArrayRef<llvm::StringRef> cpus);

/// Runs LLVM's O3 pipeline on `module` for `machine`, in place.
void optimise(llvm::Module &module, llvm::TargetMachine &machine,
              const llvm::PipelineTuningOptions &tuning);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_KERNEL_NATIVECODE_H
