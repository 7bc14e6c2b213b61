//===- NativeCode.h - kernels compiled to native objects ------------------===//

#ifndef PCC_PASSES_7_EMIT_KERNEL_NATIVECODE_H
#define PCC_PASSES_7_EMIT_KERNEL_NATIVECODE_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Passes/PassBuilder.h"
#include <string>
#include <vector>

namespace pcc::emit {

/// Machine code of all kernels of a module, for one CPU.
struct KernelObject {
  /// Name of the CPU, as passed to compileKernels().
  std::string cpu;
  /// Content of a relocatable ELF object file.
  std::vector<char> bytes;
};

/// Compiles all kernels of `module` for each of `cpus`. A CPU is an LLVM name
/// with optional features: "x86-64-v3", "x86-64-v4,+avx512bf16". Returns one
/// object per CPU, in this order. On failure emits an error.
///
/// In the object of CPU number c, the function of kernel n is called
/// `pcc_k_<n>_<c>`. The code is position-independent, writes no globals, and
/// calls only libm, memcpy and memset. Equal modules give equal bytes.
///
/// Uses one thread per CPU. Must not run within a pass, since it loads
/// dialects.
mlir::FailureOr<std::vector<KernelObject>>
compileKernels(mlir::ModuleOp module, llvm::ArrayRef<llvm::StringRef> cpus);

/// Runs LLVM's O3 pipeline on `module`, in place, for the CPU or GPU `machine`.
void optimise(llvm::Module &module, llvm::TargetMachine &machine,
              const llvm::PipelineTuningOptions &tuning);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_KERNEL_NATIVECODE_H
