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

/// Sets `kernels` to the last variant in `image` that the host's processor
/// supports. A variant is a compilation of all kernels for one instruction set.
/// Later variants are better. Exit code 13 (NoDevice) if the processor supports
/// no variant. A program without kernels (`numKernels` is 0) needs no variant.
Status chooseVariant(const ProgramImage &image, uint64_t numKernels,
                     const KernelFunction *&kernels);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_DEVICE_CPU_INSTRUCTIONSET_H
