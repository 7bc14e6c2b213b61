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

/// One reduction that is split into a start and a finish instruction, both in
/// the function that computes its gradient.
struct EarlyReduction {
  /// The all_reduce or reduce_scatter, in `maker` or in a function of the
  /// update. Mutable because the op's accessors are not const.
  mutable dist::CollectiveOp collective;
  /// The value that the collective reduces, in `maker`: the collective's
  /// operand or, if the update has the collective, the result of `maker` that
  /// the update takes.
  mlir::Value gradient;
  /// The backward function that computes `gradient`.
  mlir::func::FuncOp maker;
  /// Ops of `maker` that read the reduced value. They can wait for the finish,
  /// because no other op of `maker` reads their results. Empty if `maker` only
  /// returns the reduced value, or if the collective is in the update.
  std::vector<mlir::Operation *> readers;
  /// The microbatch in which the reduction runs: the last one for which the
  /// position runs `maker`. -1 if the reduction runs in every microbatch.
  int microbatch;
  /// Index in ModelFacts::groups: a group with the ranks of the collective's
  /// group that only early reductions use.
  int group;
};

/// Returns all early reductions, in program order. Adds the groups for them to
/// `facts`, which must be complete except for early reductions, prefetches and
/// index bounds.
std::vector<EarlyReduction> findEarlyReductions(ModelFacts &facts);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_PROGRAM_EARLYREDUCTIONS_H
