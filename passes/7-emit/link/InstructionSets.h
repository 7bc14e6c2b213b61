//===- InstructionSets.h - instruction sets of a module's CPU kernels -----===//

#ifndef PCC_PASSES_7_EMIT_LINK_INSTRUCTIONSETS_H
#define PCC_PASSES_7_EMIT_LINK_INSTRUCTIONSETS_H

#include "mlir/IR/BuiltinOps.h"
#include "status/Status.h"

#include <string>
#include <vector>

namespace pcc::emit {

/// Sets `cpus` to the instruction sets for which the CPU kernels of `module`
/// are compiled, without duplicates, the most capable one last. The module's
/// attribute `rank.cpus` lists "x86-64", "x86-64-v2", "x86-64-v3", "x86-64-v4",
/// one of these with LLVM features, such as "x86-64-v4,+avx512bf16", or
/// "native" for this machine. If the attribute is missing or empty, `cpus`
/// becomes x86-64-v3 and x86-64-v4 for the target `cpu`, and empty for other
/// targets. Returns exit code 2 for an unknown instruction set. Does not check
/// the names of features.
Status instructionSetsOf(mlir::ModuleOp module, std::vector<std::string> &cpus);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_LINK_INSTRUCTIONSETS_H
