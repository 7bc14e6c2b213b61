//===- EarlyReductions.h - gradients reduced during the backward pass -----===//

#ifndef PCC_PASSES_7_EMIT_PROGRAM_EARLYREDUCTIONS_H
#define PCC_PASSES_7_EMIT_PROGRAM_EARLYREDUCTIONS_H

#include "dialects/dist/DistDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <string>
#include <vector>

namespace pcc::emit {

struct ModelFacts;

/// A reduction of what a backward pass makes: it starts as soon as the gradient
/// is whole, and finishes a while later, within the backward pass. What is
/// between computes. For the update that is in the last microbatch; sums that
/// ranks have parts of take what is reduced in every microbatch.
///
///   B   … sum of dW2 | start dW2 | … sum of dW1 | start dW1 | … | finish dW2 …
///   U   norm, new weights
///
///   B   … dW2 | start dW2 | … dW1 | start dW1 | … | finish dW2 | add it …
struct EarlyReduction {
  mutable dist::CollectiveOp collective; ///< whose accessors are not const
  mlir::Value gradient; ///< what `maker` makes and the collective reads
  mlir::func::FuncOp maker;
  /// They read what is reduced, and may do so later; none if `maker` returns
  /// that.
  std::vector<mlir::Operation *> readers;
  /// The last of `maker` in the order of its position; -1 for every one.
  int microbatch;
  int group; ///< has the ranks of the collective's, and early ones alone
};

/// All of them, in program order. Adds the groups that they need to those of
/// `facts`, which must know everything else.
std::vector<EarlyReduction> findEarlyReductions(ModelFacts &facts);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_PROGRAM_EARLYREDUCTIONS_H
