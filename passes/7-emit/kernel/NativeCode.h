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

/// Compiles all kernels of `module` for each LLVM CPU name in `cpus`, such as
/// "x86-64-v4,+avx512bf16". Kernel 3 becomes `pcc_k_3_1` for `cpus[1]`. The
/// code writes no global variables, and calls only libm, memcpy and memset. A
/// pass must not call compileKernels(), which loads MLIR dialects.
mlir::FailureOr<std::vector<KernelObject>>
compileKernels(mlir::ModuleOp module, llvm::ArrayRef<llvm::StringRef> cpus);

/// Runs LLVM's O3 pipeline on `module`, in place, for the CPU or GPU `machine`.
void optimise(llvm::Module &module, llvm::TargetMachine &machine,
              const llvm::PipelineTuningOptions &tuning);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_KERNEL_NATIVECODE_H
