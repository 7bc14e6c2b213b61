//===- Register.h - registration of all dialects and passes ---------------===//

#ifndef PCC_PASSES_REGISTER_H
#define PCC_PASSES_REGISTER_H

#include "mlir/IR/DialectRegistry.h"

namespace pcc {

/// Registers the dialects that modules of any phase use, and constant folding
/// for graph ops.
void registerDialects(mlir::DialectRegistry &registry);

/// Registers all passes of pcc and the general passes of MLIR by their flags.
void registerPasses();

} // namespace pcc

#endif // PCC_PASSES_REGISTER_H
