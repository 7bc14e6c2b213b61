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

/// Compiles all kernels of `module` once for each entry of `cpus`. An entry is
/// the name of a CPU in LLVM, with optional features. Examples: "x86-64-v3" and
/// "x86-64-v4,+avx512bf16". Returns one object file per entry, in the order of
/// `cpus`. Emits an error on failure.
///
/// The name of a kernel function contains the number of the kernel and the
/// index of the entry. Example: for the second entry, kernel 3 is the function
/// `pcc_k_3_1`. The code is position-independent and writes no global
/// variables. The code calls only functions of libm, memcpy and memset. If two
/// modules are equal, the compiled bytes are equal, too.
///
/// The function starts one thread per entry of `cpus`. A pass must not call the
/// function. The function loads MLIR dialects, and MLIR forbids to load a
/// dialect while a pass runs.
mlir::FailureOr<std::vector<KernelObject>>
compileKernels(mlir::ModuleOp module, llvm::ArrayRef<llvm::StringRef> cpus);

/// Runs LLVM's O3 pipeline on `module`, in place, for the CPU or GPU `machine`.
void optimise(llvm::Module &module, llvm::TargetMachine &machine,
              const llvm::PipelineTuningOptions &tuning);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_KERNEL_NATIVECODE_H
