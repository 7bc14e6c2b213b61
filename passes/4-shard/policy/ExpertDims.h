//===- ExpertDims.h - dims of experts, and the ops around experts ---------===//

#ifndef PCC_PASSES_4_SHARD_POLICY_EXPERTDIMS_H
#define PCC_PASSES_4_SHARD_POLICY_EXPERTDIMS_H

#include "passes/4-shard/graph/ExpertAxes.h"
#include "passes/4-shard/graph/ShardedGraph.h"
#include "llvm/ADT/BitVector.h"

namespace pcc::shard {

/// Tags the factors of `graph` that enumerate experts (FactorTag::Expert).
/// Returns false if there are none. Names play no role: a dim is followed
/// through all ops that keep it as it is, and is a dim of experts if it is both
///
/// - *a batch of weights*: in some contraction with a weight, it is a dim of
///   the weight, of the other operand and of the result: [E, C, D] x [E, D, F];
/// - *routed*: a softmax or a selection (topk, arg_reduce) works along it, or
///   the indices of a selection are positions in it, as in a one_hot, a
///   scatter, or a comparison of the indices with the numbers 0 … E - 1.
///
///   gate  = one_hot(topk(softmax(h · router)))       [tokens, E]    routed
///   a     = einsum td,edh->eth  h, up                [E, tokens, F]
///   y     = einsum eth,ehd->etd a, down              a batch of weights
///   out   = einsum te,etd->td   gate, y              joins the two
///
/// Heads are not tagged: no weight is batched by them, or nothing routes them.
/// Experts whose weights are separate tensors are not tagged either, since
/// there is no dim to divide.
bool tagExperts(ShardedGraph &graph);

/// The region of a tagged graph in which tokens may be distributed in any way,
/// and the expert weights that must be divided there.
///
///   stream -> norm -> router, dispatch -> experts -> combination -> + stream
///             |--------------------- inside -------------------|
class ExpertRegion {
public:
  /// Finds the region of `graph`, whose experts have been tagged (tagExperts).
  explicit ExpertRegion(const ShardedGraph &graph);

  /// Returns whether vertex `op` is inside the region. Inside are the vertices
  /// with a dim of experts and those whose results only such vertices read:
  /// routing, dispatch, experts and combination. All others, inputs and outputs
  /// included, must split the batch or the sequence.
  ///
  /// Routing is left out if it saves bytes to send a token only to the ranks
  /// whose experts it chose (exchange-rows): the choice must then be made on
  /// the ranks where the tokens are.
  bool contains(unsigned op) const { return inside.test(op); }

  /// Returns the penalty of a step from `before` to `after`, two states of
  /// vertex `index`, that does not divide the vertex's experts by `axis`
  /// although they have room for it. The penalty is the bytes of the expert
  /// weight that the vertex reads or contracts with. For a combination of which
  /// few addends count, it is the bytes of what the experts made. Returns 0 if
  /// `after` divides the experts, if they have no room, or if the vertex has
  /// none.
  double undividedBytes(unsigned index, const ShardedOp &before,
                        const ShardedOp &after,
                        const dist::SubAxis &axis) const;

private:
  /// Removes the gates of vertex `sum`, and all that they need, from the
  /// region.
  void leaveGates(const ShardedGraph &graph, unsigned sum);
  /// Finds the vertices that must divide experts, and fills `weights`.
  void addWeights(const ShardedGraph &graph);

  /// The expert weight, or the output of experts, that one vertex must divide.
  struct Weight {
    /// Bytes of the whole tensor.
    double bytes = 0;
    /// Factor of the vertex that holds its experts; -1 if there is none.
    int factor = -1;
  };
  /// Vertices inside the region.
  llvm::BitVector inside;
  /// Per vertex that must divide experts: the tensor that it must divide.
  llvm::DenseMap<unsigned, Weight> weights;
};

} // namespace pcc::shard

#endif // PCC_PASSES_4_SHARD_POLICY_EXPERTDIMS_H
