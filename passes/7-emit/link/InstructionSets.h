//===- InstructionSets.h - processors that kernels are compiled for -------===//

#ifndef PCC_PASSES_7_EMIT_LINK_INSTRUCTIONSETS_H
#define PCC_PASSES_7_EMIT_LINK_INSTRUCTIONSETS_H

#include "mlir/IR/BuiltinOps.h"
#include "runtime/base/Status.h"

#include <string>
#include <vector>

namespace pcc::emit {

/// The instruction sets that the module records in `rank.cpus`, best last:
/// x86-64, x86-64-v2 to -v4 with features behind them
/// ("x86-64-v4,+avx512bf16"), and `native` for what this machine has. Default:
/// v3 and v4. Exit code 2 for others.
runtime::Status instructionSetsOf(mlir::ModuleOp module,
                                  std::vector<std::string> &cpus);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_LINK_INSTRUCTIONSETS_H
