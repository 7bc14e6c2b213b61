//===- ProgramImage.h - what a rank executable holds beside the runtime ---===//
//
// The interface between the objects that 7-emit writes and the runtime that is
// linked to them: plain C data, one symbol `pcc_program_image`.
//
//===----------------------------------------------------------------------===//

#ifndef PCC_RUNTIME_PROGRAM_PROGRAMIMAGE_H
#define PCC_RUNTIME_PROGRAM_PROGRAMIMAGE_H

#include <cstdint>

namespace pcc::runtime {

extern "C" {

/// Iterations [begin, end) of a kernel's independent outer iterations. Buffers
/// of the arena and constants are aligned to 64 bytes, parameters to their
/// element only.
typedef void (*PccKernelFunction)(void *const *buffers, const int64_t *scalars,
                                  int64_t begin, int64_t end);

/// All kernels, compiled for one instruction set.
typedef struct PccKernelVariant {
  const char *cpu; ///< "x86-64-v3", "x86-64-v4", or comma-separated features
  const PccKernelFunction *kernels; ///< Program.num_kernels entries
} PccKernelVariant;

/// All kernels for GPUs. Kernel n of the program is the function
/// `pcc_k_<numbers[n]>`; its parameters are addresses of buffers, aligned to 16
/// bytes, then scalars; of one that makes random weights, the address of the
/// tensor and the fields of RandomScalars.
typedef struct PccGpuCode {
  const char *arch;        ///< "sm_90"
  const char *ptx;         ///< ends with a zero
  const void *cubin;       ///< of `arch`
  uint64_t cubinBytes;     ///< 0: it was not assembled
  const uint32_t *numbers; ///< Program.num_kernels entries
} PccGpuCode;

/// `program` is what sealProgram() returned, aligned to 64 bytes.
typedef struct PccProgramImage {
  const void *program;
  uint64_t programBytes;
  const PccKernelVariant *variants; ///< best last
  uint64_t numVariants;
  const PccGpuCode *gpu; ///< null: the program is not for GPUs
} PccProgramImage;
}

using ProgramImage = PccProgramImage;
using KernelFunction = PccKernelFunction;

} // namespace pcc::runtime

#endif // PCC_RUNTIME_PROGRAM_PROGRAMIMAGE_H
