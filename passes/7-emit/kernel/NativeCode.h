//===- NativeCode.h - native code of kernels ------------------------------===//

#ifndef PCC_PASSES_7_EMIT_KERNEL_NATIVECODE_H
#define PCC_PASSES_7_EMIT_KERNEL_NATIVECODE_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Passes/PassBuilder.h"
#include <string>
#include <vector>

namespace pcc::emit {

/// One relocatable ELF object.
struct KernelObject {
  std::string cpu;
  std::vector<char> bytes;
};

/// Compiles every rank.kernel of `module` for each of `cpus`: a name that LLVM
/// knows ("x86-64-v3"), with features behind it ("x86-64-v4,+avx512bf16").
/// Kernel n in the order of the module becomes `pcc_k_<n>_<c>` in the object of
/// cpu c: position-independent code that writes no globals and calls only libm,
/// memcpy and memset. Equal modules give equal bytes. Must not run within a
/// pass.
mlir::FailureOr<std::vector<KernelObject>>
compileKernels(mlir::ModuleOp module, llvm::ArrayRef<llvm::StringRef> cpus);

/// LLVM's standard optimisations for `machine`.
void optimise(llvm::Module &module, llvm::TargetMachine &machine,
              const llvm::PipelineTuningOptions &tuning);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_KERNEL_NATIVECODE_H
