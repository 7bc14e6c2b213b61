//===- EvenCut.h - cut of a chain into stages of about equal time ---------===//

#ifndef PCC_PASSES_3_PLACE_EVENCUT_H
#define PCC_PASSES_3_PLACE_EVENCUT_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/plan/stage/StageCut.h"

namespace pcc::place {

/// Cuts the list of links (forward ops of `function` that exactly one stage
/// runs) into stages of about equal time, as `request` asks. The weights of a
/// stage may have at most 85 % of the bytes of all weights, and must fit into
/// the memory of the ranks of the stage. First assumes that weights are sharded
/// over the axis tp only. If no cut fits, assumes that weights are sharded over
/// all ranks of the stage. If again no cut fits, cuts without these limits.
plan::StageCut cutEvenly(mlir::func::FuncOp function,
                         const plan::StageCutRequest &request);

} // namespace pcc::place

#endif // PCC_PASSES_3_PLACE_EVENCUT_H
