//===- ExpertDims.h - which dims are experts, and what lies around them ---===//

#ifndef PCC_PASSES_4_SHARD_POLICY_EXPERTDIMS_H
#define PCC_PASSES_4_SHARD_POLICY_EXPERTDIMS_H

#include "passes/4-shard/graph/ExpertAxes.h"
#include "passes/4-shard/graph/ShardedGraph.h"
#include "llvm/ADT/BitVector.h"

namespace pcc::shard {

/// Tags the factors of `graph` along which experts lie; false if there are
/// none. Names play no role: a dim is one of experts if, followed through all
/// ops that keep it as it is, it is both
///
/// - *a batch of weights*: in some contraction with a weight it is a dim of the
///   weight, of the other operand and of the result: [E, C, D] x [E, D, F];
/// - *routed*: a softmax or a selection (topk, arg_reduce) works along it, or
///   its positions are what the indices of a selection say: a one_hot, a
///   scatter, or a comparison with a row of numbers.
///
///   gate  = one_hot(topk(softmax(h · router)))       [tokens, E]    routed
///   a     = einsum td,edh->eth  h, up                [E, tokens, F]
///   y     = einsum eth,ehd->etd a, down              a batch of weights
///   out   = einsum te,etd->td   gate, y              joins the two
///
/// Heads are no experts: no weight is batched by them, or nothing routes them.
/// Neither are experts whose weights are apart: there is no dim to divide.
bool tagExperts(ShardedGraph &graph);

/// What an axis that divides experts has to know of a tagged graph.
class ExpertRegion {
public:
  explicit ExpertRegion(const ShardedGraph &graph);

  /// Ops that see experts, and those that only such ops need: routing,
  /// dispatch, experts and combination. Tokens may lie in any way there;
  /// everywhere else, inputs and outputs included, they lie as the batch and
  /// the sequence do. Routing is left out where it saves bytes that tokens
  /// travel to the ranks whose experts they chose, and to no others
  /// (exchange-rows): it has to be done before they do.
  bool contains(unsigned op) const { return inside.test(op); }

  /// Bytes of the weight of experts that op `index` reads or contracts with, or
  /// of what experts made and it sums if few of that counts; if one more part
  /// of `axis` can divide its experts and does not do so from `before` to
  /// `after`; 0 otherwise.
  double undividedBytes(unsigned index, const ShardedOp &before,
                        const ShardedOp &after,
                        const dist::SubAxis &axis) const;

private:
  void leaveGates(const ShardedGraph &graph, unsigned sum);
  void addWeights(const ShardedGraph &graph);

  struct Weight {
    double bytes = 0;
    int factor = -1; ///< of the op: its experts
  };
  llvm::BitVector inside;
  llvm::DenseMap<unsigned, Weight> weights;
};

} // namespace pcc::shard

#endif // PCC_PASSES_4_SHARD_POLICY_EXPERTDIMS_H
