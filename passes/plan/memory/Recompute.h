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
  /// Flops of running the op once more. Communication is priced in flops, too.
  double flops = 0;
  /// False if the op must not run twice, such as a receive.
  bool isRepeatable = true;
  /// Whether recomputing the op is cheap for the bytes that it saves. The
  /// selective mode recomputes only these ops.
  bool isCheap = false;
};

/// A value that the forward pass produces or reads. A value that no op produces
/// (a weight, an input) is always available and costs nothing.
struct ForwardValue {
  /// Local bytes of one microbatch.
  int64_t bytes = 0;
  /// Indices of the first and the last op of the backward pass that read the
  /// value; -1 if no op of the backward pass does.
  int firstRead = -1, lastRead = -1;
};

/// The forward and backward pass of a stage, for one microbatch.
struct StageGraph {
  /// Ops of the forward pass, in the order of execution.
  std::vector<ForwardOp> ops;
  std::vector<ForwardValue> values;
  /// For each op of the backward pass, in the order of execution: bytes of the
  /// gradients and other values of the backward pass that are alive then.
  std::vector<int64_t> backwardBytes;
  /// Largest number of microbatches that are between F and B at once.
  int inFlight = 1;
};

/// The kept values and recomputed ops of a stage. Invariant: each value that
/// the backward pass or a recomputed op reads is always available, kept, or the
/// result of a recomputed op.
struct Recomputation {
  std::vector<bool> isKept;       ///< by value
  std::vector<bool> isRecomputed; ///< by op
  double flops = 0;               ///< of all recomputed ops
  int64_t keptBytes = 0;          ///< of all kept values, for one microbatch
};

/// Recomputes only ops that cost no flops, such as the transpose of a kept
/// value.
Recomputation recomputeNothing(const StageGraph &stage);

/// Recomputes cheap ops wherever that reduces the kept bytes (selective
/// recomputation, Korthikanti et al. 2022).
Recomputation recomputeCheap(const StageGraph &stage);

/// Keeps only the values that cross between segments of the stage. The number
/// and the ends of the segments are chosen to minimise the memory: ends lie
/// where few bytes cross, and segments are short enough for the recomputed
/// values of one segment not to exceed what the others save.
Recomputation recomputeAll(const StageGraph &stage);

/// Searches for the fewest recomputed flops with which the stages of one
/// position need at most `budget` bytes, as counted by `activationBytes`. If
/// the search finds nothing within the budget, returns the choice with the
/// fewest bytes. The result has one element per stage. The search is a
/// heuristic and deterministic.
std::vector<Recomputation>
recomputeWithin(const std::vector<StageGraph> &stages, int64_t budget);

/// Returns the peak bytes of activations of the stages of one position: the
/// values that all microbatches in flight keep, plus the largest need of the
/// forward or backward pass that is running. The estimate does not know fused
/// kernels, inside of which values need no memory.
int64_t activationBytes(const std::vector<StageGraph> &stages,
                        const std::vector<Recomputation> &recomputations);

/// Returns the largest number of microbatches that are between F and B (or W,
/// if the backward pass is divided) of `stage` at once; at least 1.
int mostInFlight(const ActionTable &table, int stage);

//===----------------------------------------------------------------------===//
// Parts of the above
//===----------------------------------------------------------------------===//

/// Returns the recomputation that keeps, among the needed values, those in
/// `mayKeep` and the results of ops that are not repeatable. Every other needed
/// value is recomputed. Needed are the values that the backward pass or a
/// recomputed op reads.
Recomputation complete(const StageGraph &stage,
                       const std::vector<bool> &mayKeep);

/// A choice for some ops of a stage: which of their results are kept, and the
/// resulting bytes and flops.
struct TradeOff {
  /// Indices of the kept values.
  std::vector<int> kept;
  /// Bytes of the kept values.
  int64_t bytes = 0;
  /// Flops of the recomputed ops.
  double flops = 0;
};

/// Returns the choice with the least price * bytes + flops for the ops with
/// the ascending indices `ops`. `price` is in flops per byte. Values in
/// `isGiven` are available at no cost, as are the results of all other ops.
TradeOff cheapestTradeOff(const StageGraph &stage, const std::vector<int> &ops,
                          const std::vector<bool> &isGiven, double price);

/// Returns every choice that is the cheapest at some price: the lower convex
/// hull of all (bytes, flops), ordered from the fewest flops to the fewest
/// bytes.
std::vector<TradeOff> tradeOffs(const StageGraph &stage,
                                const std::vector<int> &ops,
                                const std::vector<bool> &isGiven);

} // namespace pcc::plan

#endif // PCC_PASSES_PLAN_MEMORY_RECOMPUTE_H
