//===- Passes.h - declarations of the passes of phase 7-emit --------------===//
//
// The passes, in the order in which the pipeline runs them (Passes.td has the
// details):
//
//   lower-for-gpus      lowers ops that have no GPU library call
//   form-library-calls  fuses epilogues into matmuls and convolutions
//   form-kernels        fuses element-wise, layout and reducing ops
//   verify-emitted      verifies the program of every pipeline rank
//
//===----------------------------------------------------------------------===//

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
