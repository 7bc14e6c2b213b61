//===- Passes.h - passes of phase 7-emit ----------------------------------===//

#ifndef PCC_PASSES_7_EMIT_PASSES_H
#define PCC_PASSES_7_EMIT_PASSES_H

#include "dialects/graph/GraphDialect.h"
#include "dialects/rank/RankDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

namespace pcc::emit {
#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "passes/7-emit/Passes.h.inc"
} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_PASSES_H
