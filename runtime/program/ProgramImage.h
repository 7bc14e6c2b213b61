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

/// Function of a CPU kernel. A kernel is a loop over independent iterations.
/// The function executes the iterations [begin, end). Several threads can call
/// the function at the same time with different ranges. `buffers` contains the
/// addresses of the tensors that the kernel reads or writes. `scalars` contains
/// the integer arguments of the kernel.
///
/// The address of a tensor is a multiple of 64 bytes, unless the tensor is a
/// parameter of the model. The address of a parameter of the model is only a
/// multiple of the size of one element, such as 4 bytes for F32, because the
/// parameter may lie in a memory-mapped file.
typedef void (*PccKernelFunction)(void *const *buffers, const int64_t *scalars,
                                  int64_t begin, int64_t end);

/// All CPU kernels of a program, compiled for one instruction set.
typedef struct PccKernelVariant {
  /// Required instruction set: "x86-64-v3", "x86-64-v4", or a comma-separated
  /// list of CPU features.
  const char *cpu;
  /// Array with one function per CPU kernel of the program. The program refers
  /// to a kernel by its index in this array. The length of the array is the
  /// field `num_kernels` of the program.
  const PccKernelFunction *kernels;
} PccKernelVariant;

/// All GPU kernels of a program. Kernel n is the function `pcc_k_<numbers[n]>`,
/// such as `pcc_k_7`. There are three kinds of kernels, with different
/// arguments. All addresses in the arguments are multiples of 16 bytes.
///
/// - A kernel that computes tensors takes the buffers' addresses, then
///   integers.
/// - A kernel that updates many tensors takes a table of addresses and sizes by
///   value (see TensorTable), then the addresses of buffers outside the table.
/// - A kernel that generates random weights takes the address of the memory to
///   fill, then the fields of RandomScalars.
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

/// Data that the compiler links into the executable of a rank: the program that
/// the rank executes, and the kernels that the program calls. Ranks with the
/// same coordinate on the pipeline axis of the mesh get the same data. For
/// example, a mesh {pp=2, tp=4} has 8 ranks. The 4 ranks with coordinate 0 on
/// pp have one program, and the 4 ranks with coordinate 1 on pp have another.
typedef struct PccProgramImage {
  /// Bytes of the program that the rank executes. sealProgram() has made these
  /// bytes: a header with a checksum, the instructions, and the constants. The
  /// address is a multiple of 64.
  const void *program;
  uint64_t programBytes;
  /// Array of `numVariants` entries. Each entry contains all CPU kernels of the
  /// program, compiled for one instruction set. For example, entry 0 is
  /// compiled for x86-64-v3, and entry 1 is compiled for x86-64-v4. The last
  /// entry needs the most capable processor. The runtime uses the last entry
  /// that the host's processor supports.
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
