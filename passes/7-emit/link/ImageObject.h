//===- ImageObject.h - object file with a program and its kernel tables ---===//

#ifndef PCC_PASSES_7_EMIT_LINK_IMAGEOBJECT_H
#define PCC_PASSES_7_EMIT_LINK_IMAGEOBJECT_H

#include "runtime/base/Status.h"
#include "llvm/ADT/ArrayRef.h"

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace pcc::emit {

/// All GPU kernels of a module, compiled.
struct GpuCode {
  /// Compute capability, such as "sm_90".
  std::string arch;
  /// PTX text.
  std::string ptx;
  /// Machine code for `arch`; empty if the PTX was not assembled.
  std::vector<char> cubin;
};

/// Content of a rank executable, apart from the runtime and the code of CPU
/// kernels.
struct Image {
  /// Sealed program, as returned by sealProgram(). Not owned.
  std::span<const std::byte> program;
  /// Instruction sets of the CPU kernels, the most capable one last.
  std::vector<std::string> cpus;
  /// Kernels that the program calls: entry n is the number within the module of
  /// the program's kernel n.
  std::vector<int> kernels;
  /// GPU kernels, not owned; null if the program is not for GPUs.
  const GpuCode *gpu = nullptr;
};

/// Creates an ELF object that defines `pcc_program_image` (see
/// runtime/program/ProgramImage.h): the bytes of the program, one table of
/// kernels per instruction set, and the GPU kernels. The table of instruction
/// set c refers to the symbols `pcc_k_<n>_<c>` of compileKernels(). The object
/// also names the dynamic loader, which linkers do not add to shared objects.
///
/// Stores the bytes of the object in `object`. Returns exit code 1 if LLVM
/// cannot write ELF objects.
runtime::Status makeImageObject(const Image &image, std::vector<char> &object);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_LINK_IMAGEOBJECT_H
