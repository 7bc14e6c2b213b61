//===- InstructionSet.h - choice of kernels by CPU features ---------------===//

#ifndef PCC_RUNTIME_DEVICE_CPU_INSTRUCTIONSET_H
#define PCC_RUNTIME_DEVICE_CPU_INSTRUCTIONSET_H

#include "runtime/program/ProgramImage.h"
#include "status/Status.h"

#include <string_view>

namespace pcc::runtime {

/// Returns whether the host's processor has every feature in the
/// comma-separated list `cpu`, for example "x86-64-v3,+avx512bf16". An entry is
/// a level ("x86-64" to "x86-64-v4") or LLVM's name of a feature. A leading "+"
/// is optional.
bool hostSupports(std::string_view cpu);

/// Sets `kernels` to the compiled kernels that suit the host's processor.
/// `image` has a list of variants. A variant contains all kernels of the
/// program, compiled for one instruction set. The last variant needs the most
/// capable instruction set. The function selects the last variant that the
/// processor supports. If there is none, `kernels` is null, and the function
/// returns an error with exit code 13 (NoDevice). If `numKernels`, the number
/// of kernels in the program, is 0, the function returns success in any case.
Status chooseVariant(const ProgramImage &image, uint64_t numKernels,
                     const KernelFunction *&kernels);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_DEVICE_CPU_INSTRUCTIONSET_H
