//===- BackwardStages.h - pipeline stages of backward and update ops ------===//

#ifndef PCC_PASSES_3_PLACE_BACKWARDSTAGES_H
#define PCC_PASSES_3_PLACE_BACKWARDSTAGES_H

#include "passes/3-place/ForwardChain.h"

namespace pcc::place {

/// Sets `pipe.stage` on all ops of the backward pass and of the weight update.
/// Erases the attributes `graph.number`, `graph.mirrors` and `graph.updates`,
/// which tell to what forward op or weight an op belongs. The links of `chain`
/// (forward ops with much work) must have a stage. The stages are:
///
///   op                                  stage
///   backward op of a link               stage of the link
///   other backward op, graph.accumulate stage of its last operand with a stage
///   op of the update of one weight      first stage that reads the weight
///   op of the update of all weights     0
///   graph.set_parameter                 each stage that reads the parameter
///                                       (one clone of the op per stage)
void placeBackwardAndUpdate(mlir::func::FuncOp function,
                            const ForwardChain &chain);

} // namespace pcc::place

#endif // PCC_PASSES_3_PLACE_BACKWARDSTAGES_H
