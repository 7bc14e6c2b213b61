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
  /// Machine code of the GPU kernels, for GPUs of the compute capability
  /// `arch`. pcc compiles the kernels to PTX, the assembly language of NVIDIA
  /// GPUs. If the library nvJitLink is installed, pcc also assembles the PTX to
  /// machine code. If the library is missing, this vector is empty. The GPU
  /// driver then assembles the PTX when a rank loads the code.
  std::vector<char> cubin;
};

/// Content of a rank executable, apart from the runtime and the code of CPU
/// kernels.
struct Image {
  /// Bytes of the program that the rank executes. sealProgram() has created the
  /// bytes: a header with a checksum, the serialized program, and the constants
  /// of the program. This object does not own the bytes.
  std::span<const std::byte> program;
  /// Instruction sets for which the CPU kernels are compiled. Each CPU kernel
  /// is compiled once for each of these instruction sets. Example:
  /// {"x86-64-v3", "x86-64-v4"}. The list is sorted from the least capable to
  /// the most capable instruction set. The list is empty if there are no CPU
  /// kernels.
  std::vector<std::string> cpus;
  /// For each kernel that the program calls, its number in the MLIR module.
  /// Example: with {4, 7}, kernel 0 of the program is kernel 4 of the module.
  std::vector<int> kernels;
  /// Code of the GPU kernels, not owned. Null if the program is not for GPUs.
  const GpuCode *gpu = nullptr;
};

/// Creates an ELF object file with the data of `image`, and stores its bytes in
/// `object`. The runtime finds the data through `pcc_program_image`
/// (ProgramImage.h). CPU kernels are in other files: `pcc_k_7_1` is kernel 7
/// for image.cpus[1]. Returns exit code 1 if LLVM cannot write ELF.
Status makeImageObject(const Image &image, std::vector<char> &object);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_LINK_IMAGEOBJECT_H
