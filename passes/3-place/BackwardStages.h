//===- BackwardStages.h - pipeline stages of backward and update ops ------===//

#ifndef PCC_PASSES_3_PLACE_BACKWARDSTAGES_H
#define PCC_PASSES_3_PLACE_BACKWARDSTAGES_H

#include "passes/3-place/ForwardChain.h"

namespace pcc::place {

/// Sets `pipe.stage` on all followers of `chain`, that is on the ops of the
/// backward pass and of the update. All links must have a stage. The rules are:
///
///   op                             stage
///   backward op of a link          stage of the link
///   backward op of a free op       stage of its last operand that has one
///   graph.accumulate               stage of its operand
///   update of a weight             first stage that reads the weight
///   graph.set_parameter            all stages that read the weight (clones)
///   op that concerns all weights   stage 0
///
/// A `graph.concat` for all weights, such as that of the gradient norm, would
/// receive one transfer per weight. Its operands from one stage are therefore
/// concatenated on that stage, and split again on stage 0.
///
/// Removes the attributes `graph.number`, `graph.mirrors` and `graph.updates`,
/// which only this function needs. Creates no transfers.
void placeBackwardAndUpdate(mlir::func::FuncOp function,
                            const ForwardChain &chain);

} // namespace pcc::place

#endif // PCC_PASSES_3_PLACE_BACKWARDSTAGES_H
