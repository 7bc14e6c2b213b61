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

/// Chooses the compiled functions that suit the host's processor. A kernel is a
/// function that pcc has compiled. A variant contains all kernels of the
/// program, compiled for one instruction set. `image` contains a list of
/// variants. The last variant in the list needs the most capable instruction
/// set.
///
/// Sets `kernels` to the array of functions of the last variant that the
/// processor supports. For example, suppose that the variants are "x86-64-v3"
/// and "x86-64-v4". A processor without AVX-512 gets the variant "x86-64-v3".
///
/// If the processor supports no variant, sets `kernels` to null. In this case,
/// chooseVariant() returns an error with exit code 13 (NoDevice), except if the
/// program has no kernels. `numKernels` is the number of kernels in the
/// program.
Status chooseVariant(const ProgramImage &image, uint64_t numKernels,
                     const KernelFunction *&kernels);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_DEVICE_CPU_INSTRUCTIONSET_H
