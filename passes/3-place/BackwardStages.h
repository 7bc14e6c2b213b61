//===- BackwardStages.h - pipeline stages of backward and update ops ------===//

#ifndef PCC_PASSES_3_PLACE_BACKWARDSTAGES_H
#define PCC_PASSES_3_PLACE_BACKWARDSTAGES_H

#include "passes/3-place/ForwardChain.h"

namespace pcc::place {

/// Sets the attribute `pipe.stage` on all ops of the backward pass and of the
/// update in `function`. The links of `chain` (forward ops that only one stage
/// runs) must have it already. Cheap forward ops, such as masks (free ops),
/// have no stage yet.
///
///   op                             stage
///   backward op of a link          stage of the link
///   backward op of a free op       stage of its last operand that has one
///   graph.accumulate               stage of its operand
///   update of a weight             first stage that reads the weight
///   graph.set_parameter            all stages that read the weight (clones)
///   op that concerns all weights   stage 0
///
/// Creates no transfers between stages. Removes the attributes `graph.number`,
/// `graph.mirrors` and `graph.updates`.
void placeBackwardAndUpdate(mlir::func::FuncOp function,
                            const ForwardChain &chain);

} // namespace pcc::place

#endif // PCC_PASSES_3_PLACE_BACKWARDSTAGES_H
