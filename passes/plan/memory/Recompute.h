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
/// pass. If the backward pass needs a value that does not stay in memory, it
/// recomputes the value: it runs the op again that computes the value. The
/// function tries to keep the peak memory low. It has three steps:
///
///  1. It makes a list of the ops that the backward pass would run again if no
///     value stayed in memory.
///  2. It removes early ops from the list. An op is early if it may run twice,
///     if it takes little or no time, and if its operands are only weights,
///     inputs of the stage, or results of other early ops. The results of early
///     ops do not stay in memory. If the backward pass needs a result of an
///     early op, it runs this op again.
///  3. It divides the rest of the list into segments. A segment is a range of
///     consecutive ops. A value crosses between segments if an op of one
///     segment computes the value and an op of a later segment reads the value.
///
/// A value stays in memory if the backward pass or a recomputed op reads the
/// value, and if one of these conditions is also true:
///
///  - The value crosses between segments.
///  - The op that computes the value must not run twice.
///
/// Example: the list has the ops a, b, c and d. Each op reads the result of the
/// op before it, and the backward pass reads all four results. The segments are
/// {a, b} and {c, d}. The result of b stays in memory, because it crosses
/// between the two segments. The backward pass runs a, c and d again.
///
/// The function tries several numbers of segments, such as 1, 2, 3, 4 and 6. It
/// returns the decision with the lowest peak memory, as estimated by
/// activationBytes().
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

/// Estimates the peak memory for values of the forward and the backward pass on
/// one rank, in bytes. The rank runs `stages`. `recomputations` says for each
/// stage which values of the forward pass are kept in memory until the backward
/// pass. The result is the sum of two numbers:
///
///  - The bytes of all kept values. For each stage, they are the bytes of one
///    microbatch times `inFlight`, the number of microbatches whose values are
///    in memory at the same time.
///  - The largest number of bytes that one forward or backward pass of one
///    stage and one microbatch needs in addition to the kept values.
///
/// The real peak can be lower. For example, a fused kernel does not store its
/// inner values in memory, but the estimate counts these values.
int64_t activationBytes(const std::vector<StageGraph> &stages,
                        const std::vector<Recomputation> &recomputations);

/// Returns the largest number of microbatches that are in flight in one stage
/// at the same time. The result is at least 1. `stage` is the index of the
/// stage. `table` is the pipeline schedule. It lists the actions of each rank
/// of the pipeline in the order of execution.
///
/// A microbatch is in flight from its forward pass (action F) to its backward
/// pass (action B). Some schedules split the backward pass into two actions: I
/// computes the gradients of the inputs, and W computes the gradients of the
/// weights. A microbatch is then in flight until W.
///
/// Example: the actions F0 F1 B0 F2 B1 B2 belong to the microbatches 0, 1 and
/// 2. At most 2 microbatches are in flight at the same time: first 0 and 1,
/// then 1 and 2.
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

/// Chooses which values stay in memory ("kept") and which ops are recomputed.
/// Returns the choice with the least cost:
///
///     price * bytes of the kept values + flops of the recomputed ops
///
/// The choice is about some of the ops of a stage:
///
///  - `stage`: the graph of the stage, for one microbatch.
///  - `ops`: indices of these ops in `stage.ops`, ascending. Only these ops may
///    be recomputed, and only their results may be kept. The function assumes
///    that all other values of the stage are in memory at no cost.
///  - `isGiven`: a flag for each value of the stage. The function assumes that
///    a value with this flag is in memory at no cost, even if it is a result of
///    one of these ops. The value is not in the returned list of kept values.
///  - `price`: the cost of one kept byte, in flops.
TradeOff cheapestTradeOff(const StageGraph &stage, const std::vector<int> &ops,
                          const std::vector<bool> &isGiven, double price);

/// Returns the best choices for some ops of a stage. A choice says which
/// results of these ops are kept in memory, and which of these ops the backward
/// pass runs again (recomputes). A choice has a cost, in flops:
///
///     price * bytes of the kept values + flops of the recomputed ops
///
/// `price` is the cost of one kept byte. If the price is high, the choice with
/// the least cost keeps few bytes and recomputes many flops. For each price
/// above 0, the returned list contains a choice with the least cost. The choice
/// with the fewest flops comes first, and the choice with the fewest bytes
/// comes last.
///
/// The parameters are:
///
///  - `stage`: the graph of the stage, for one microbatch.
///  - `ops`: indices of the ops in `stage.ops`, ascending. The function assumes
///    that the results of all other ops of the stage are in memory at no cost.
///  - `isGiven`: a flag for each value of the stage. The function assumes that
///    a value with this flag is in memory at no cost. The value is never in the
///    list of kept values.
std::vector<TradeOff> tradeOffs(const StageGraph &stage,
                                const std::vector<int> &ops,
                                const std::vector<bool> &isGiven);

} // namespace pcc::plan

#endif // PCC_PASSES_PLAN_MEMORY_RECOMPUTE_H
