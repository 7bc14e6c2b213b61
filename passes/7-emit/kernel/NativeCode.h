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

/// Compiles all kernels of `module` once for each entry of `cpus`, in one
/// thread per entry. An entry is the name of a CPU in LLVM, with optional
/// features, such as "x86-64-v4,+avx512bf16". Returns one object file per
/// entry, in the order of `cpus`. Emits an error on failure. For the second
/// entry, kernel 3 becomes the function `pcc_k_3_1`. The code is
/// position-independent, writes no global variables, and calls only libm,
/// memcpy and memset. Equal modules give equal bytes. A pass must not call
/// compileKernels(), because compileKernels() loads MLIR dialects.
mlir::FailureOr<std::vector<KernelObject>>
compileKernels(mlir::ModuleOp module, llvm::ArrayRef<llvm::StringRef> cpus);

/// Runs LLVM's O3 pipeline on `module`, in place, for the CPU or GPU `machine`.
void optimise(llvm::Module &module, llvm::TargetMachine &machine,
              const llvm::PipelineTuningOptions &tuning);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_KERNEL_NATIVECODE_H
