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

/// Decision for one pipeline stage: which forward values are kept until the
/// backward pass, and which forward ops the backward pass runs again. Each
/// value that the backward pass or a recomputed op reads is kept, is
/// recomputed, or is a weight or stage input.
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

/// Divides the ops of the forward pass into segments (ranges of consecutive
/// ops). Keeps only the values that a later segment reads, and values whose op
/// must not run twice. Cheap ops that depend only on weights and inputs of the
/// stage belong to no segment, and the backward pass always recomputes them.
/// Tries several numbers of segments, and returns the decision with the least
/// activationBytes().
Recomputation recomputeAll(const StageGraph &stage);

/// Chooses which forward values one rank keeps in memory for its pipeline
/// stages `stages`. Searches for the choice with the fewest recomputed flops
/// among those whose activationBytes() are at most `budget`. If there is none,
/// searches for the choice with the fewest activationBytes(). The search is
/// deterministic, but not always optimal.
std::vector<Recomputation>
recomputeWithin(const std::vector<StageGraph> &stages, int64_t budget);

/// Estimates the peak bytes of forward and backward values on one rank that
/// runs `stages`. Adds the kept bytes of all microbatches in flight, and the
/// most additional bytes of one forward or backward pass. The real peak can be
/// lower because of fused kernels.
int64_t activationBytes(const std::vector<StageGraph> &stages,
                        const std::vector<Recomputation> &recomputations);

/// Returns the largest number of microbatches in flight in stage `stage` at the
/// same time, but at least 1. A microbatch is in flight from its forward to its
/// backward action, or to W (weight gradient) if the schedule splits the
/// backward action.
int mostInFlight(const ActionTable &table, int stage);

//===----------------------------------------------------------------------===//
// Parts of the above
//===----------------------------------------------------------------------===//

/// Decides which values are kept and which ops are recomputed. Considers only
/// values that the backward pass or a recomputed op reads. Value i is kept if
/// mayKeep[i] is true, or if the op that computes it must not run twice.
/// Otherwise this op is recomputed. Values that no op computes, such as
/// weights, are always in memory.
Recomputation complete(const StageGraph &stage,
                       const std::vector<bool> &mayKeep);

/// Trade-off between memory and recomputation for a list of ops of one stage:
/// the results of these ops that stay in memory until the backward pass reads
/// them. If the backward pass needs another result of these ops, it runs the op
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

/// Returns which results of `ops` to keep in memory so that price * kept bytes
/// + recomputed flops is least. `ops` has ascending indices into `stage.ops`.
/// Values with a true flag in `isGiven`, and results of ops that `ops` does not
/// list, are in memory at no cost.
TradeOff cheapestTradeOff(const StageGraph &stage, const std::vector<int> &ops,
                          const std::vector<bool> &isGiven, double price);

/// Returns all trade-offs that are the best one for some price of a kept byte.
/// The price is a number above 0. The best trade-off for a price has the least
/// cost: price * kept bytes + recomputed flops. The list begins with the
/// trade-off with the fewest flops (for the lowest prices), and ends with the
/// trade-off with the fewest bytes (for the highest prices).
std::vector<TradeOff> tradeOffs(const StageGraph &stage,
                                const std::vector<int> &ops,
                                const std::vector<bool> &isGiven);

} // namespace pcc::plan

#endif // PCC_PASSES_PLAN_MEMORY_RECOMPUTE_H
