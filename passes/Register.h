//===- Register.h - the dialects and passes of pcc ------------------------===//

#ifndef PCC_PASSES_REGISTER_H
#define PCC_PASSES_REGISTER_H

#include "mlir/IR/DialectRegistry.h"

namespace pcc {

/// Dialects that modules of any phase use.
void registerDialects(mlir::DialectRegistry &registry);

/// All passes, by their flags.
void registerPasses();

} // namespace pcc

#endif // PCC_PASSES_REGISTER_H
