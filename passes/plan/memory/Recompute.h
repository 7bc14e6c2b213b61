//===- Recompute.h - which activations are kept and which made again ------===//
//
// The backward pass reads values of the forward pass. A value that is *kept*
// takes room from F to B in every microbatch in flight; another one is made
// again in the backward pass, from what is kept:
//
//   forward    x ── norm ── matmul ── gelu ── matmul ── y
//   backward   reads x, norm, matmul (for gelu) and gelu
//   kept       x, matmul          8 + 32 bytes in place of 8 + 8 + 32 + 32
//   recomputed norm, gelu         cheap; matmul would cost more than its bytes
//
// What to keep at a price of bytes in flops is a minimal cut: a value that is
// needed is paid for, or its op is and then all operands are needed. The prices
// at which the cut changes give the best trade-offs. A stage is first cut into
// segments between values that are kept in any case, so that not all of it is
// made again, and lives, at once; then a trade-off is chosen for each.
//
//===----------------------------------------------------------------------===//

#ifndef PCC_PASSES_PLAN_MEMORY_RECOMPUTE_H
#define PCC_PASSES_PLAN_MEMORY_RECOMPUTE_H

#include <cstddef>
#include <cstdint>
#include <vector>

namespace pcc::plan {

struct ActionTable;

/// An op of the forward pass. Operands and results are numbers of values.
struct ForwardOp {
  std::vector<int> operands;
  std::vector<int> results;
  /// Of running it once more; what it communicates is priced in flops as well.
  double flops = 0;
  /// False where running it twice is something else, as of a receive.
  bool isRepeatable = true;
  /// Cheap for its bytes: what the selective mode makes again.
  bool isCheap = false;
};

/// A value that no op makes (a weight, an input) is always there at no cost.
struct ForwardValue {
  int64_t bytes = 0;
  /// Which ops of the backward pass, counted from 0, read it; -1: none does.
  int firstRead = -1, lastRead = -1;
};

/// A stage as one microbatch sees it: ops in the order in which they run.
struct StageGraph {
  std::vector<ForwardOp> ops;
  std::vector<ForwardValue> values;
  /// What the backward pass itself holds at each of its ops.
  std::vector<int64_t> backwardBytes;
  /// Microbatches that are between F and B at once.
  int inFlight = 1;
};

/// What is kept and what runs again: whatever the backward pass, or an op that
/// runs again, reads is kept or made by an op that does.
struct Recomputation {
  std::vector<bool> isKept;       ///< by value
  std::vector<bool> isRecomputed; ///< by op
  double flops = 0;               ///< of the ops that run again
  int64_t keptBytes = 0;
};

/// Nothing but what costs no flops runs again: a transpose of a kept value.
Recomputation recomputeNothing(const StageGraph &stage);

/// What is cheap runs again wherever it makes less be kept.
Recomputation recomputeCheap(const StageGraph &stage);

/// Only what crosses between segments of the stage is kept. Where they begin is
/// chosen such that least memory is needed: where little crosses, and many
/// enough that none takes more than what they save.
Recomputation recomputeAll(const StageGraph &stage);

/// For the stages of one position, the fewest flops with which it takes at most
/// `budget` bytes (see `activationBytes`); the fewest bytes where it takes more
/// anyway.
std::vector<Recomputation>
recomputeWithin(const std::vector<StageGraph> &stages, int64_t budget);

/// The most bytes that activations of the stages of one position take: all that
/// microbatches in flight keep, and what the one that runs needs beside it.
/// Does not know kernels, in which values need not lie in memory.
int64_t activationBytes(const std::vector<StageGraph> &stages,
                        const std::vector<Recomputation> &recomputations);

/// The most microbatches of a stage that are between F and B, or W, at once.
int mostInFlight(const ActionTable &table, int stage);

//===----------------------------------------------------------------------===//
// Parts of the above
//===----------------------------------------------------------------------===//

/// The recomputation in which all of `mayKeep` that is needed is kept, as is
/// what cannot be made again; the rest runs again.
Recomputation complete(const StageGraph &stage,
                       const std::vector<bool> &mayKeep);

/// Which of their values some ops keep, for so many bytes and flops.
struct TradeOff {
  std::vector<int> kept;
  int64_t bytes = 0;
  double flops = 0;
};

/// The least price * bytes + flops for `ops`, ascending, of a stage. Values
/// that `isGiven` are there, as are those that other ops make.
TradeOff cheapestTradeOff(const StageGraph &stage, const std::vector<int> &ops,
                          const std::vector<bool> &isGiven, double price);

/// All that is cheapest at some price, from the fewest flops to the fewest
/// bytes.
std::vector<TradeOff> tradeOffs(const StageGraph &stage,
                                const std::vector<int> &ops,
                                const std::vector<bool> &isGiven);

} // namespace pcc::plan

#endif // PCC_PASSES_PLAN_MEMORY_RECOMPUTE_H
