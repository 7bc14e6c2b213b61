//===- Recompute.h - activation checkpointing by minimum cuts -------------===//
//
// The backward pass reads values of the forward pass. A value that is *kept*
// occupies memory from F to B in every microbatch in flight. Any other value
// that the backward pass reads is *recomputed* there from kept values
// (activation checkpointing, Chen et al. 2016):
//
//   forward    x ── norm ── matmul ── gelu ── matmul ── y
//   backward   reads x, norm, matmul (for gelu) and gelu
//   kept       x, matmul          8 + 32 bytes in place of 8 + 8 + 32 + 32
//   recomputed norm, gelu         cheap; matmul would cost more than its bytes
//
// If a byte has a price in flops, the best choice is a minimum cut of a network
// (as in PyTorch's min-cut partitioner): for every needed value either its
// bytes are paid, or the flops of its op, whose operands are then needed as
// well. The prices at which the cut changes give all best trade-offs of bytes
// and flops.
//
// Recomputing a whole stage at once would need all of its values at once.
// Therefore a stage is first divided into segments, and the values that cross
// from one segment to another are kept. Then a trade-off is chosen for each
// segment.
//
//===----------------------------------------------------------------------===//

#ifndef PCC_PASSES_PLAN_MEMORY_RECOMPUTE_H
#define PCC_PASSES_PLAN_MEMORY_RECOMPUTE_H

#include <cstddef>
#include <cstdint>
#include <vector>

namespace pcc::plan {

struct ActionTable;

/// An op of the forward pass.
struct ForwardOp {
  /// Indices into StageGraph::values.
  std::vector<int> operands;
  std::vector<int> results;
  /// Flops to run the op again. For communication: the flops that a rank could
  /// compute in the same time.
  double flops = 0;
  /// Whether the op may run twice. False for a receive, for example.
  bool isRepeatable = true;
  /// Whether the op takes little time to run again, compared with the bytes of
  /// its results. If the backward pass runs the op again, the results need not
  /// stay in memory. The function recomputeCheap() recomputes only ops with
  /// this flag.
  bool isCheap = false;
};

/// A value of the forward pass. A value that no op produces (a weight, an
/// input) is always available and costs nothing.
struct ForwardValue {
  /// Bytes on one rank for one microbatch.
  int64_t bytes = 0;
  /// Indices of the first and last backward op that reads the value; -1 if
  /// there is none.
  int firstRead = -1, lastRead = -1;
};

/// The forward and the backward pass of one pipeline stage, for one microbatch.
struct StageGraph {
  /// Ops of the forward pass, in the order of execution.
  std::vector<ForwardOp> ops;
  std::vector<ForwardValue> values;
  /// backwardBytes[i]: bytes of gradients and other backward values that are in
  /// memory while op i of the backward pass runs.
  std::vector<int64_t> backwardBytes;
  /// Largest number of microbatches that are in flight in this stage at the
  /// same time. A microbatch is in flight from the start of its forward pass to
  /// the end of its backward pass.
  int inFlight = 1;
};

/// Decision for one pipeline stage. It says which values of the forward pass
/// are kept in memory until the backward pass, and which ops of the forward
/// pass the backward pass runs again (recomputes). If the backward pass or a
/// recomputed op reads a value, one of these conditions is true:
///
///  - The value is kept.
///  - The op that computes the value is recomputed.
///  - No op computes the value: it is a weight or an input of the stage, which
///    is always in memory.
struct Recomputation {
  std::vector<bool> isKept;       ///< by value
  std::vector<bool> isRecomputed; ///< by op
  double flops = 0;               ///< of all recomputed ops
  int64_t keptBytes = 0;          ///< of all kept values, for one microbatch
};

/// Decides which values of the forward pass stay in memory until the backward
/// pass. The backward pass may run an op of the forward pass again only if the
/// op costs no flops. An example is a transpose. The function keeps the fewest
/// bytes that are possible under this rule.
Recomputation recomputeNothing(const StageGraph &stage);

/// Decides which values of the forward pass stay in memory until the backward
/// pass. The backward pass may run an op of the forward pass again only if the
/// flag `isCheap` of the op is true. The function keeps the fewest bytes that
/// are possible under this rule (selective recomputation, Korthikanti et al.
/// 2022).
Recomputation recomputeCheap(const StageGraph &stage);

/// Decides which values of the forward pass stay in memory until the backward
/// pass, so that the peak memory is low. Divides the ops into segments (ranges
/// of consecutive ops). If the backward pass needs a value, the value stays in
/// memory if a later segment reads it or if its op must not run twice, and is
/// recomputed otherwise. Results of cheap ops that depend only on weights and
/// inputs of the stage are always recomputed. Example: for a chain of ops with
/// the segments {a, b} and {c, d}, only the result of b stays in memory. The
/// function returns the decision with the least activationBytes() for several
/// numbers of segments.
Recomputation recomputeAll(const StageGraph &stage);

/// Chooses which values of the forward pass one rank keeps in memory. If the
/// backward pass needs a value that is not kept, it runs the op that computes
/// the value again (recomputes the op). `stages` are the pipeline stages of the
/// rank. `budget` is the number of bytes that may be in memory at the peak, as
/// estimated by activationBytes().
///
/// Searches for a choice within the budget that recomputes as few flops as
/// possible. If the search finds no choice within the budget, the function
/// returns the choice with the fewest bytes that the search has found. The
/// search does not always find the best choice. It always gives the same result
/// for the same input.
std::vector<Recomputation>
recomputeWithin(const std::vector<StageGraph> &stages, int64_t budget);

/// Estimates the peak memory for forward and backward values on one rank, in
/// bytes. The rank runs `stages`. recomputations[i] says which values of stage
/// i are kept from the forward to the backward pass. The result is the sum of
/// the bytes of all kept values (for each stage, keptBytes * inFlight), and of
/// the most bytes that one forward or backward pass of one microbatch needs in
/// addition. The real peak can be lower, because a fused kernel does not store
/// its inner values in memory.
int64_t activationBytes(const std::vector<StageGraph> &stages,
                        const std::vector<Recomputation> &recomputations);

/// Returns the largest number of microbatches that are in flight in stage
/// number `stage` at the same time, but at least 1. A microbatch is in flight
/// from its action F (forward) to its action B (backward). If the schedule
/// splits B into I (input gradient) and W (weight gradient), the microbatch is
/// in flight until W. `table` lists the actions of each pipeline rank in the
/// order of execution. Example: the result for the actions F0 F1 B0 F2 B1 B2 is
/// 2.
int mostInFlight(const ActionTable &table, int stage);

//===----------------------------------------------------------------------===//
// Parts of the above
//===----------------------------------------------------------------------===//

/// Decides for each value of the forward pass whether the value is kept in
/// memory. Also decides for each op of the forward pass whether the backward
/// pass runs the op again (recomputes the op). `mayKeep` has one flag for each
/// value. The rules are:
///
///  - A value is needed if the backward pass or a recomputed op reads it.
///  - A needed value is kept if its flag in `mayKeep` is true. A needed value
///    is also kept if the op that computes it must not run twice.
///  - For every other needed value, the op that computes it is recomputed.
///  - A value that is not needed is not kept.
///  - A value that no op computes, such as a weight, is always in memory. The
///    rules do not apply to it.
Recomputation complete(const StageGraph &stage,
                       const std::vector<bool> &mayKeep);

/// Choice for a list of ops of one stage. The choice says which results of
/// these ops are kept in memory until the backward pass reads them. If a result
/// that the backward pass needs is not kept, the backward pass runs the op
/// again (recomputes the op).
struct TradeOff {
  /// Values that stay in memory until the backward pass reads them, as indices
  /// into StageGraph::values.
  std::vector<int> kept;
  /// Bytes of the kept values.
  int64_t bytes = 0;
  /// Flops of the recomputed ops.
  double flops = 0;
};

/// Chooses which results of `ops` stay in memory ("kept"), and which of `ops`
/// the backward pass runs again ("recomputed"). Returns the choice with the
/// least cost, in flops:
///
///     price * bytes of the kept values + flops of the recomputed ops
///
/// `ops` has ascending indices into `stage.ops`. `isGiven` has one flag for
/// each value of the stage. Values with a true flag and results of all other
/// ops are in memory at no cost. They are never in the list of kept values.
TradeOff cheapestTradeOff(const StageGraph &stage, const std::vector<int> &ops,
                          const std::vector<bool> &isGiven, double price);

/// Returns the best choices of kept values and recomputed ops for all prices of
/// a kept byte. A choice costs, in flops:
///
///     price * bytes of the kept values + flops of the recomputed ops
///
/// For each price above 0, the result has a choice with the least cost. The
/// choice with the fewest flops comes first, and the choice with the fewest
/// bytes comes last. The parameters have the meaning that they have in
/// cheapestTradeOff.
std::vector<TradeOff> tradeOffs(const StageGraph &stage,
                                const std::vector<int> &ops,
                                const std::vector<bool> &isGiven);

} // namespace pcc::plan

#endif // PCC_PASSES_PLAN_MEMORY_RECOMPUTE_H
