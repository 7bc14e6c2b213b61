//===- BackwardStages.h - stages of the backward pass and the update ------===//

#ifndef PCC_PASSES_3_PLACE_BACKWARDSTAGES_H
#define PCC_PASSES_3_PLACE_BACKWARDSTAGES_H

#include "passes/3-place/ForwardChain.h"

namespace pcc::place {

/// Gives every follower its stage, once links have theirs:
/// - the gradient of an op is on the op's stage; that of a view of a weight,
///   where it comes from;
/// - a gradient accumulates where it is made;
/// - a weight is updated on the first stage that reads it, and written on all
///   of them;
/// - what is of all weights is on stage 0. It is sent what one other stage
///   knows in one piece.
/// Removes what 2-prepare wrote on ops for this.
void placeBackwardAndUpdate(mlir::func::FuncOp function,
                            const ForwardChain &chain);

} // namespace pcc::place

#endif // PCC_PASSES_3_PLACE_BACKWARDSTAGES_H
