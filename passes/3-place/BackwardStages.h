//===- BackwardStages.h - pipeline stages of backward and update ops ------===//

#ifndef PCC_PASSES_3_PLACE_BACKWARDSTAGES_H
#define PCC_PASSES_3_PLACE_BACKWARDSTAGES_H

#include "passes/3-place/ForwardChain.h"

namespace pcc::place {

/// Sets the attribute `pipe.stage` on all ops of the backward pass and of the
/// weight update in `function`. `chain` divides the forward ops into two
/// classes. A link is a forward op with much work, such as a matmul. Each link
/// must have the attribute `pipe.stage` already. A free op is a cheap forward
/// op, such as a mask. A free op has no stage yet. Each backward op belongs to
/// one forward op, whose gradient it computes. An op `graph.accumulate`
/// combines the values of all microbatches, for example into the sum of a
/// gradient. An op `graph.set_parameter` writes a parameter. The stages are:
///
///   op                                stage
///   backward op of a link             stage of the link
///   backward op of a free op          stage of the last operand (of the
///                                     backward op) that has a stage
///   graph.accumulate                  stage of the operand
///   op of the update of one weight    first stage that reads the weight
///   op of the update of all weights   stage 0
///   graph.set_parameter               each stage that reads the parameter
///
/// An example of an op of the update of all weights is the op that computes the
/// norm of all gradients. If several stages read a parameter, each of these
/// stages gets a clone of the op `graph.set_parameter`. The function does not
/// create the ops that send values between stages.
///
/// At the end, the function removes these attributes from all ops:
///
///   graph.number    number of a forward op
///   graph.mirrors   number of the forward op to which a backward op belongs
///   graph.updates   name of the weight whose update needs the op
void placeBackwardAndUpdate(mlir::func::FuncOp function,
                            const ForwardChain &chain);

} // namespace pcc::place

#endif // PCC_PASSES_3_PLACE_BACKWARDSTAGES_H
