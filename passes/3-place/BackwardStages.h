//===- BackwardStages.h - pipeline stages of backward and update ops ------===//

#ifndef PCC_PASSES_3_PLACE_BACKWARDSTAGES_H
#define PCC_PASSES_3_PLACE_BACKWARDSTAGES_H

#include "passes/3-place/ForwardChain.h"

namespace pcc::place {

/// Sets `pipe.stage` on all followers of `chain`, which are the ops of the
/// backward pass and of the update. All links of `chain` (forward ops that
/// carry work) must have a stage already. The other forward ops, such as masks,
/// are free ops: they are cloned onto each stage that uses them. The rules are:
///
///   op                             stage
///   backward op of a link          stage of the link
///   backward op of a free op       stage of its last operand that has one
///   graph.accumulate               stage of its operand
///   update of a weight             first stage that reads the weight
///   graph.set_parameter            all stages that read the weight (clones)
///   op that concerns all weights   stage 0
///
/// An example of the last row is a `graph.concat` of one value per weight for
/// the gradient norm. To avoid one transfer per weight, each stage concatenates
/// the values of its own weights and sends one value to stage 0.
///
/// Removes the attributes `graph.number`, `graph.mirrors` and `graph.updates`,
/// which only this function needs. Creates no transfers.
void placeBackwardAndUpdate(mlir::func::FuncOp function,
                            const ForwardChain &chain);

} // namespace pcc::place

#endif // PCC_PASSES_3_PLACE_BACKWARDSTAGES_H
