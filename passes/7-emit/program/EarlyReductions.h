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

/// Reduction of a gradient that is split into two instructions, a start and a
/// finish. Between them, the ranks compute the gradients of other values.
struct EarlyReduction {
  /// The all_reduce or reduce_scatter op, in a backward function or in the
  /// optimizer update. Mutable because the op's accessors are not const.
  mutable dist::CollectiveOp collective;
  /// Gradient that the op `collective` reduces. An op of the backward function
  /// `maker` computes the gradient. Example: `maker` returns the gradient %g.
  /// The pipeline passes %g to the argument %a of the optimizer update. The
  /// optimizer update executes `all_reduce %a`. `collective` is this
  /// all_reduce, and `gradient` is %g.
  mlir::Value gradient;
  /// Backward function that computes `gradient`.
  mlir::func::FuncOp maker;
  /// Ops of the backward function `maker` that read the result of the
  /// reduction. These ops must run after the reduction has finished. `return`
  /// ops and reshapes are not in the list. If `collective` is an op of the
  /// optimizer update, the list is empty.
  std::vector<mlir::Operation *> readers;
  /// Index of the microbatch for which the ranks execute the reduction. If the
  /// value is -1, the ranks execute the reduction for every microbatch.
  /// Otherwise, the ranks execute the reduction only once per step, in the last
  /// run of the backward function `maker`. Example: a step runs `maker` for the
  /// microbatches 0, 1, 2 and 3, in this order. The value is 3.
  int microbatch;
  /// Index in ModelFacts::groups of the mesh axes along which the ranks
  /// communicate. The runtime creates separate communicators for each index.
  /// Only collectives that are split into a start and a finish use this index.
  /// The reduction can therefore run at the same time as other collectives of
  /// the same ranks.
  int group;
};

/// Returns the all_reduces and reduce_scatters of gradients that can run while
/// the backward pass computes other gradients, in program order. Needs
/// `facts.functions`, `facts.pipeline` and `facts.groups`. Appends to
/// `facts.groups`, since these reductions need communicators of their own.
std::vector<EarlyReduction> findEarlyReductions(ModelFacts &facts);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_PROGRAM_EARLYREDUCTIONS_H
