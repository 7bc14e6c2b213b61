//===- InstructionSets.h - instruction sets of a module's CPU kernels -----===//

#ifndef PCC_PASSES_7_EMIT_LINK_INSTRUCTIONSETS_H
#define PCC_PASSES_7_EMIT_LINK_INSTRUCTIONSETS_H

#include "mlir/IR/BuiltinOps.h"
#include "status/Status.h"

#include <string>
#include <vector>

namespace pcc::emit {

/// Sets `cpus` to the instruction sets for CPU kernels (attribute `rank.cpus`),
/// sorted, without duplicates. Replaces "native" by the set of this machine.
/// Without the attribute: x86-64-v3 and x86-64-v4 for the target `cpu`, else
/// none. Returns exit code 2 for an unknown set.
Status instructionSetsOf(mlir::ModuleOp module, std::vector<std::string> &cpus);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_LINK_INSTRUCTIONSETS_H
