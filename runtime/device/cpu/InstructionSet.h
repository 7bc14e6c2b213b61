//===- InstructionSet.h - what the host's processor can execute -----------===//

#ifndef PCC_RUNTIME_DEVICE_CPU_INSTRUCTIONSET_H
#define PCC_RUNTIME_DEVICE_CPU_INSTRUCTIONSET_H

#include "runtime/base/Status.h"
#include "runtime/program/ProgramImage.h"

#include <string_view>

namespace pcc::runtime {

/// Whether the host has all that `cpu` names: "x86-64-v3", "x86-64-v4" and
/// features as LLVM spells them, separated by commas.
bool hostSupports(std::string_view cpu);

/// The last variant that the host can execute; exit code 13 names the variants
/// if there is none. A program without kernels needs no variant.
Status chooseVariant(const ProgramImage &image, uint64_t numKernels,
                     const KernelFunction *&kernels);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_DEVICE_CPU_INSTRUCTIONSET_H
