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
  /// Flops of running the op once more. For an op that communicates, the time
  /// of the communication is expressed in flops.
  double flops = 0;
  /// Whether the op may run twice. False for a receive, for example.
  bool isRepeatable = true;
  /// Whether the op takes little time to recompute, compared with the memory
  /// that recomputing it saves. The selective mode (recomputeCheap) recomputes
  /// only such ops.
  bool isCheap = false;
};

/// A value that the forward pass produces or reads. A value that no op produces
/// (a weight, an input) is always available and costs nothing.
struct ForwardValue {
  /// Bytes on one rank for one microbatch.
  int64_t bytes = 0;
  /// Indices of the first and the last op of the backward pass that read the
  /// value; -1 if no op of the backward pass does.
  int firstRead = -1, lastRead = -1;
};

/// The forward and the backward pass of one pipeline stage, for one microbatch.
struct StageGraph {
  /// Ops of the forward pass, in the order of execution.
  std::vector<ForwardOp> ops;
  std::vector<ForwardValue> values;
  /// backwardBytes[i]: bytes of gradients and other values of the backward pass
  /// that are alive while op i of the backward pass runs. The ops of the
  /// backward pass are numbered in the order of execution.
  std::vector<int64_t> backwardBytes;
  /// Largest number of microbatches that are in flight at once: their forward
  /// pass has run, and their backward pass has not.
  int inFlight = 1;
};

/// Decision for one stage: which values of the forward pass are kept in memory,
/// and which ops are recomputed in the backward pass. Invariant: each value
/// that the backward pass or a recomputed op reads is kept, is the result of a
/// recomputed op, or has no producer (weights and inputs).
struct Recomputation {
  std::vector<bool> isKept;       ///< by value
  std::vector<bool> isRecomputed; ///< by op
  double flops = 0;               ///< of all recomputed ops
  int64_t keptBytes = 0;          ///< of all kept values, for one microbatch
};

/// Recomputes only ops that cost no flops. For example, the transpose of a kept
/// value is recomputed rather than kept.
Recomputation recomputeNothing(const StageGraph &stage);

/// Recomputes only ops with `isCheap`, and only where recomputing reduces the
/// kept bytes (selective recomputation, Korthikanti et al. 2022).
Recomputation recomputeCheap(const StageGraph &stage);

/// Divides the stage into segments (ranges of consecutive ops). Keeps only the
/// values that cross from one segment to another, and recomputes all others.
/// The segments are chosen to minimize the peak memory. It consists mainly of
/// two parts:
///  - the kept values;
///  - all recomputed values of one segment, which are in memory during its
///    backward pass.
Recomputation recomputeAll(const StageGraph &stage);

/// Chooses the kept and recomputed values for each of `stages`, which are the
/// stages that one rank runs. Searches for the choice with the fewest
/// recomputed flops that needs at most `budget` bytes, as counted by
/// `activationBytes`. If the search finds none within the budget, returns the
/// choice with the fewest bytes. The search is heuristic and deterministic.
std::vector<Recomputation>
recomputeWithin(const std::vector<StageGraph> &stages, int64_t budget);

/// Returns the peak bytes of activations on a rank that runs all of `stages`:
/// the kept values of all microbatches in flight, plus the largest need of any
/// forward or backward pass while it runs. This is an upper estimate: values
/// inside of fused kernels are counted although they need no memory.
int64_t activationBytes(const std::vector<StageGraph> &stages,
                        const std::vector<Recomputation> &recomputations);

/// Returns the largest number of microbatches of `stage` that are in flight at
/// once; at least 1. A microbatch is in flight from its forward action F to its
/// backward action B. If B is divided into I (input gradient) and W (weight
/// gradient), it is in flight until W.
int mostInFlight(const ActionTable &table, int stage);

//===----------------------------------------------------------------------===//
// Parts of the above
//===----------------------------------------------------------------------===//

/// Returns the recomputation that follows from `mayKeep`, a flag for each
/// value:
///  - A value is needed if the backward pass or a recomputed op reads it.
///  - A needed value is kept if `mayKeep` is true for it, or if its op is not
///    repeatable.
///  - Every other needed value is recomputed.
Recomputation complete(const StageGraph &stage,
                       const std::vector<bool> &mayKeep);

/// One choice of kept values and recomputed ops for some ops of a stage, with
/// its bytes and flops. Keeping more bytes costs fewer flops.
struct TradeOff {
  /// Indices of the kept values.
  std::vector<int> kept;
  /// Bytes of the kept values.
  int64_t bytes = 0;
  /// Flops of the recomputed ops.
  double flops = 0;
};

/// Returns the trade-off with the least cost for the ops with the ascending
/// indices `ops`. The cost is
///
///     price * bytes of the kept values + flops of the recomputed ops
///
/// `price` is in flops per byte. A value is available at no cost if `isGiven`
/// is true for it, or if no op in `ops` produces it.
TradeOff cheapestTradeOff(const StageGraph &stage, const std::vector<int> &ops,
                          const std::vector<bool> &isGiven, double price);

/// Returns every trade-off that is the cheapest at some price in flops per
/// byte, for the ops with the indices `ops`. These trade-offs are the lower
/// convex hull of all points (bytes, flops). They are ordered from the fewest
/// flops to the fewest bytes. A value for which `isGiven` is true is available
/// at no cost.
std::vector<TradeOff> tradeOffs(const StageGraph &stage,
                                const std::vector<int> &ops,
                                const std::vector<bool> &isGiven);

} // namespace pcc::plan

#endif // PCC_PASSES_PLAN_MEMORY_RECOMPUTE_H
