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
  /// Machine code for `arch`, assembled from the PTX; may be empty.
  std::vector<char> cubin;
};

/// Content of a rank executable, apart from the runtime and the code of CPU
/// kernels.
struct Image {
  /// Bytes of the program that the rank executes, sealed by sealProgram(). Not
  /// owned.
  std::span<const std::byte> program;
  /// Instruction sets of the compiled CPU kernels, the most capable one last.
  std::vector<std::string> cpus;
  /// Kernels that the program calls, by their numbers in the module. Example:
  /// for {4, 7}, kernel 1 of the program is kernel 7 of the module.
  std::vector<int> kernels;
  /// Code of the GPU kernels, not owned. Null if the program is not for GPUs.
  const GpuCode *gpu = nullptr;
};

/// Creates an ELF object, and stores its bytes in `object`. The object defines
/// the symbol `pcc_program_image` (ProgramImage.h), through which the runtime
/// finds
///
///   - the bytes of the program,
///   - the functions of the CPU kernels: `pcc_k_7_1` is kernel number 7,
///     compiled for instruction set number 1,
///   - the code of the GPU kernels.
///
/// The object also has a section with the path of the dynamic loader. Returns
/// exit code 1 if LLVM cannot write ELF objects.
Status makeImageObject(const Image &image, std::vector<char> &object);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_LINK_IMAGEOBJECT_H
