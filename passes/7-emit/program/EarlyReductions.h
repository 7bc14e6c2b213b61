//===- EarlyReductions.h - gradient reductions that overlap backward ------===//
//
// Finds the reductions of gradients that can run while the backward pass
// computes other gradients, as in PyTorch DDP (Li et al. 2020). A reduction of
// this kind becomes two instructions: one starts it as soon as its gradient is
// complete, the other finishes it later within the same backward function.
// There are two cases.
//
// Gradients that are reduced once per step: the reduction belongs to the
// update, and starts in the backward function of the last microbatch.
//
//   B   … sum of dW2 | start dW2 | … sum of dW1 | start dW1 | … | finish dW2 …
//   U   norm, new weights
//
// Gradients whose sums over microbatches are sharded (ZeRO-2, Rajbhandari et
// al. 2020): each microbatch reduces its gradient and adds the result to the
// sum.
//
//   B   … dW2 | start dW2 | … dW1 | start dW1 | … | finish dW2 | add dW2 …
//
//===----------------------------------------------------------------------===//

#ifndef PCC_PASSES_7_EMIT_PROGRAM_EARLYREDUCTIONS_H
#define PCC_PASSES_7_EMIT_PROGRAM_EARLYREDUCTIONS_H

#include "dialects/dist/DistDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <string>
#include <vector>

namespace pcc::emit {

struct ModelFacts;

/// Reduction of a gradient over ranks that becomes two instructions, a start
/// and a finish. Between them the ranks compute further gradients. Both
/// instructions are in the function that computes the gradient.
struct EarlyReduction {
  /// The all_reduce or reduce_scatter op. It is an op of `maker` (the function
  /// that computes the gradient) or of a function of the optimizer update.
  /// Mutable because the op's accessors are not const.
  mutable dist::CollectiveOp collective;
  /// SSA value that the collective reduces. The backward function `maker`
  /// defines this value. If the collective is an op of `maker`, the value is
  /// its operand. If the collective is an op of the optimizer update, the value
  /// is a result of `maker`, which is passed to the update.
  mlir::Value gradient;
  /// Backward function that computes `gradient`.
  mlir::func::FuncOp maker;
  /// Ops of the backward function `maker` that read the reduced value. They
  /// must run after the reduction has finished. `maker` returns their results,
  /// and does not use them otherwise. Empty if `maker` returns the reduced
  /// value itself, or if the collective is an op of the optimizer update.
  std::vector<mlir::Operation *> readers;
  /// Index of the last microbatch for which the position (virtual pipeline
  /// rank) runs `maker`, the function that computes the gradient. The reduction
  /// runs only for this microbatch. -1 if the reduction runs for every
  /// microbatch.
  int microbatch;
  /// Index in ModelFacts::groups of the group of ranks within which the
  /// reduction communicates. This is a second group (OverlapGroups): it has the
  /// ranks of the collective's ordinary group, but a communicator that only
  /// early reductions use.
  int group;
};

/// Returns all reductions of gradients that can start early, in program order.
/// Adds the groups of ranks within which these reductions communicate to
/// `facts`. readFacts() calls this function after it has completed the stages,
/// pipeline and groups of `facts`.
std::vector<EarlyReduction> findEarlyReductions(ModelFacts &facts);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_PROGRAM_EARLYREDUCTIONS_H
