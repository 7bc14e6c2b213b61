//===- ImageObject.h - object file with a program and its kernel tables ---===//

#ifndef PCC_PASSES_7_EMIT_LINK_IMAGEOBJECT_H
#define PCC_PASSES_7_EMIT_LINK_IMAGEOBJECT_H

#include "status/Status.h"
#include "llvm/ADT/ArrayRef.h"

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace pcc::emit {

/// Compiled code of all GPU kernels of a module.
struct GpuCode {
  /// Compute capability, such as "sm_90".
  std::string arch;
  /// PTX text.
  std::string ptx;
  /// Machine code for `arch`, assembled from the PTX. Empty if the PTX was not
  /// assembled.
  std::vector<char> cubin;
};

/// Content of a rank executable (the program that one process runs), apart from
/// the runtime and the machine code of CPU kernels.
struct Image {
  /// Bytes of the program that the rank's pipeline position executes, in the
  /// format of sealProgram(). Not owned.
  std::span<const std::byte> program;
  /// Instruction sets that the CPU kernels are compiled for, the most capable
  /// one last.
  std::vector<std::string> cpus;
  /// Module-wide numbers of the kernels that the program calls. The program's
  /// kernel i is kernel number kernels[i] of the module.
  std::vector<int> kernels;
  /// Code of the GPU kernels, not owned. Null if the program is not for GPUs.
  const GpuCode *gpu = nullptr;
};

/// Creates an ELF object, and stores its bytes in `object`. The object defines
/// the symbol `pcc_program_image` (runtime/program/ProgramImage.h), which
/// consists of
///
///   - the bytes of the program,
///   - a table of kernels per instruction set: the table with index c has
///     pointers to the functions `pcc_k_<n>_<c>` of compileKernels(),
///   - the code of the GPU kernels.
///
/// The object also has a section with the path of the dynamic loader, because
/// linkers do not add this section to shared objects. Returns exit code 1 if
/// LLVM cannot write ELF objects.
Status makeImageObject(const Image &image, std::vector<char> &object);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_LINK_IMAGEOBJECT_H
