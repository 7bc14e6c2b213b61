//===- InstructionSet.h - choice of kernels by CPU features ---------------===//

#ifndef PCC_RUNTIME_DEVICE_CPU_INSTRUCTIONSET_H
#define PCC_RUNTIME_DEVICE_CPU_INSTRUCTIONSET_H

#include "runtime/base/Status.h"
#include "runtime/program/ProgramImage.h"

#include <string_view>

namespace pcc::runtime {

/// Returns whether the host's processor has every feature that `cpu` lists. The
/// list is separated by commas; its entries are "x86-64" to "x86-64-v4" or
/// names of features as LLVM spells them, optionally with a leading "+".
bool hostSupports(std::string_view cpu);

/// Sets `kernels` to the functions of the last variant that the host supports:
/// the most capable one, as variants are ordered. `numKernels` is the number of
/// kernels in each variant. If the host supports no variant, returns exit code
/// 13 (NoDevice) with the names of the variants; without kernels, sets null and
/// succeeds.
Status chooseVariant(const ProgramImage &image, uint64_t numKernels,
                     const KernelFunction *&kernels);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_DEVICE_CPU_INSTRUCTIONSET_H
