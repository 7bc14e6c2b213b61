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
  /// Whether the op is fast to recompute, compared with the memory that this
  /// saves. The selective mode (recomputeCheap) recomputes only cheap ops.
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
  /// Largest number of microbatches between their forward and backward pass.
  int inFlight = 1;
};

/// Decision for one stage: which forward values are kept in memory, and which
/// ops are recomputed in the backward pass. Invariant: each value that the
/// backward pass or a recomputed op reads is kept, recomputed, or a weight or
/// input.
struct Recomputation {
  std::vector<bool> isKept;       ///< by value
  std::vector<bool> isRecomputed; ///< by op
  double flops = 0;               ///< of all recomputed ops
  int64_t keptBytes = 0;          ///< of all kept values, for one microbatch
};

/// Recomputes only ops that cost no flops, such as the transpose of a kept
/// value.
Recomputation recomputeNothing(const StageGraph &stage);

/// Recomputes only ops with `isCheap`, where this reduces the kept bytes
/// (selective recomputation, Korthikanti et al. 2022).
Recomputation recomputeCheap(const StageGraph &stage);

/// Divides the stage into segments (ranges of consecutive ops) and keeps only
/// values that cross from one segment to another. Minimizes the peak memory:
/// the kept values plus the recomputed values of one segment.
Recomputation recomputeAll(const StageGraph &stage);

/// Chooses the values that one rank keeps in memory; the backward pass
/// recomputes the others that it needs. `stages` are the stages of the rank.
/// Searches for the fewest recomputed flops for which `activationBytes` is at
/// most `budget`. If the search finds no such choice, returns the one with the
/// fewest bytes. The search is heuristic and deterministic.
std::vector<Recomputation>
recomputeWithin(const std::vector<StageGraph> &stages, int64_t budget);

/// Returns the peak bytes of activations on a rank that runs `stages`. It is
/// the sum of two numbers:
///  - the bytes of all kept values, for all stages and microbatches in flight;
///  - the most bytes that one forward or backward pass needs in addition.
///
/// The estimate is high: it counts values inside of fused kernels, too.
int64_t activationBytes(const std::vector<StageGraph> &stages,
                        const std::vector<Recomputation> &recomputations);

/// Returns the largest number of microbatches of `stage` in flight at once; at
/// least 1. A microbatch is in flight from forward (F) to backward (B) or, if
/// split, to weight gradient (W).
int mostInFlight(const ActionTable &table, int stage);

//===----------------------------------------------------------------------===//
// Parts of the above
//===----------------------------------------------------------------------===//

/// Returns the recomputation that follows from `mayKeep`, a flag for each
/// value:
///  - A value is needed if the backward pass or a recomputed op reads it.
///  - A needed value is kept if `mayKeep` is true or its op is not repeatable.
///  - Every other needed value is recomputed.
Recomputation complete(const StageGraph &stage,
                       const std::vector<bool> &mayKeep);

/// A choice of kept values and recomputed ops for some ops of a stage. More
/// kept bytes cost fewer flops.
struct TradeOff {
  /// Indices of the kept values.
  std::vector<int> kept;
  /// Bytes of the kept values.
  int64_t bytes = 0;
  /// Flops of the recomputed ops.
  double flops = 0;
};

/// Chooses the values to keep and the ops to recompute, with the least cost:
///
///     price * bytes of the kept values + flops of the recomputed ops
///
///  - `ops`: ascending indices of the ops that may be recomputed. A value that
///    none of them produces costs nothing.
///  - `isGiven`: a flag for each value. A value with this flag is kept in any
///    case and costs nothing here.
///  - `price`: cost of one kept byte, in flops.
TradeOff cheapestTradeOff(const StageGraph &stage, const std::vector<int> &ops,
                          const std::vector<bool> &isGiven, double price);

/// Returns all different results of `cheapestTradeOff` for prices above 0. A
/// higher price per kept byte leads to fewer kept bytes and more recomputed
/// flops. The choice with the fewest flops comes first.
std::vector<TradeOff> tradeOffs(const StageGraph &stage,
                                const std::vector<int> &ops,
                                const std::vector<bool> &isGiven);

} // namespace pcc::plan

#endif // PCC_PASSES_PLAN_MEMORY_RECOMPUTE_H
