//===- Passes.h - passes of phase 1-import --------------------------------===//

#ifndef PCC_PASSES_1_IMPORT_PASSES_H
#define PCC_PASSES_1_IMPORT_PASSES_H

#include "mlir/Pass/Pass.h"

namespace pcc {

// Functions that create the passes, generated from Passes.td.
#define GEN_PASS_DECL
#include "passes/1-import/Passes.h.inc"

// Functions that register the passes by their command-line names, generated
// from Passes.td.
#define GEN_PASS_REGISTRATION
#include "passes/1-import/Passes.h.inc"

} // namespace pcc

#endif // PCC_PASSES_1_IMPORT_PASSES_H
