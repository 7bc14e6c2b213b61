//===- ProgramImage.h - program and kernels of a rank executable ----------===//
//
// Binary interface between the object files that 7-emit writes and the runtime
// that they are linked with: plain C data under the symbol `pcc_program_image`.
//
//===----------------------------------------------------------------------===//

#ifndef PCC_RUNTIME_PROGRAM_PROGRAMIMAGE_H
#define PCC_RUNTIME_PROGRAM_PROGRAMIMAGE_H

#include <cstdint>

namespace pcc::runtime {

extern "C" {

/// A CPU kernel. Executes iterations [begin, end) of its outer loop, which are
/// independent, so threads can share them. `buffers` and `scalars` are its
/// arguments. A buffer is aligned to 64 bytes, a parameter only to its element
/// type.
typedef void (*PccKernelFunction)(void *const *buffers, const int64_t *scalars,
                                  int64_t begin, int64_t end);

/// All CPU kernels of a program, compiled for one instruction set.
typedef struct PccKernelVariant {
  /// Required instruction set: "x86-64-v3", "x86-64-v4", or a comma-separated
  /// list of CPU features.
  const char *cpu;
  /// Array of Program.num_kernels functions.
  const PccKernelFunction *kernels;
} PccKernelVariant;

/// All GPU kernels of a program. Kernel n of the program is the function
/// `pcc_k_<numbers[n]>`. Parameters of the two kinds of kernels:
///
/// - computation: the addresses of the buffers, aligned to 16 bytes, then the
///   scalars;
/// - generator of random weights: the address of the tensor, then the fields of
///   RandomScalars.
typedef struct PccGpuCode {
  /// Oldest GPU architecture for which the code is compiled, such as "sm_90".
  const char *arch;
  /// PTX code, terminated by a zero byte.
  const char *ptx;
  /// Machine code for `arch`.
  const void *cubin;
  /// Size of `cubin` in bytes; 0 if the PTX was not assembled.
  uint64_t cubinBytes;
  /// For each kernel of the program, the number in the name of its function
  /// (`pcc_k_<number>`). The array has Program.num_kernels entries.
  const uint32_t *numbers;
} PccGpuCode;

/// Program and kernels that are linked into the executables of all ranks with
/// the same pipeline coordinate.
typedef struct PccProgramImage {
  /// Sealed program (see sealProgram), aligned to 64 bytes.
  const void *program;
  uint64_t programBytes;
  /// CPU kernels of `numVariants` instruction sets, the most capable one last.
  const PccKernelVariant *variants;
  uint64_t numVariants;
  /// GPU kernels; null if the program is not for GPUs.
  const PccGpuCode *gpu;
} PccProgramImage;
}

using ProgramImage = PccProgramImage;
using KernelFunction = PccKernelFunction;

} // namespace pcc::runtime

#endif // PCC_RUNTIME_PROGRAM_PROGRAMIMAGE_H
