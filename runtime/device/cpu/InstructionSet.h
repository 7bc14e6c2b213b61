//===- InstructionSet.h - choice of kernels by CPU features ---------------===//

#ifndef PCC_RUNTIME_DEVICE_CPU_INSTRUCTIONSET_H
#define PCC_RUNTIME_DEVICE_CPU_INSTRUCTIONSET_H

#include "runtime/program/ProgramImage.h"
#include "status/Status.h"

#include <string_view>

namespace pcc::runtime {

/// Returns whether the host's processor has every feature in the list `cpu`,
/// for example "x86-64-v3,+avx512bf16". The entries are separated by commas. An
/// entry is a level from "x86-64" to "x86-64-v4", or the name of a feature in
/// LLVM, with or without a leading "+".
bool hostSupports(std::string_view cpu);

/// Sets `kernels` to the kernels of the best variant that the host's processor
/// supports. A variant has the `numKernels` kernels compiled for one
/// instruction set. Variants are ordered from the least to the most capable
/// one. If `numKernels` is 0, sets `kernels` to null. If the host supports no
/// variant, returns exit code 13 (NoDevice) with the names of the variants.
Status chooseVariant(const ProgramImage &image, uint64_t numKernels,
                     const KernelFunction *&kernels);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_DEVICE_CPU_INSTRUCTIONSET_H
