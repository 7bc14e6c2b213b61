//===- Register.h - registration of all dialects and passes ---------------===//

#ifndef PCC_PASSES_REGISTER_H
#define PCC_PASSES_REGISTER_H

#include "mlir/IR/DialectRegistry.h"

namespace pcc {

/// Adds dialects to `registry`: the dialects of pcc, and the func dialect of
/// MLIR. The modules that pcc compiles contain ops of these dialects. The
/// function also adds constant folding to pcc's graph dialect. MLIR can then
/// replace an op by a constant if all operands of the op are constants.
void registerDialects(mlir::DialectRegistry &registry);

/// Registers all passes of pcc, and the general passes of MLIR, such as CSE.
/// After the call, the tool pcc-opt can find each pass by the name of the pass
/// on the command line. For example, `pcc-opt --cut-stages` runs the pass
/// "cut-stages".
void registerPasses();

} // namespace pcc

#endif // PCC_PASSES_REGISTER_H
