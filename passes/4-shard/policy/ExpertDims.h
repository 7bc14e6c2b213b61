//===- ExpertDims.h - dims of experts, and the ops around experts ---------===//

#ifndef PCC_PASSES_4_SHARD_POLICY_EXPERTDIMS_H
#define PCC_PASSES_4_SHARD_POLICY_EXPERTDIMS_H

#include "passes/4-shard/graph/ExpertAxes.h"
#include "passes/4-shard/graph/ShardedGraph.h"
#include "llvm/ADT/BitVector.h"

namespace pcc::shard {

/// Finds the dims of `graph` that count the experts of a mixture-of-experts
/// layer. Gives the tag FactorTag::Expert to their factors (dims, or parts of
/// dims) in all ops. Returns false if there are none, for example if each
/// expert has a weight tensor of its own. A dim of experts has two properties:
///
/// - Batch of a weight: a contraction has the dim in a weight, in its other
///   operand and in its result.
/// - Routed: a softmax or a selection (topk, arg_reduce) works along the dim,
///   or the indices from a selection refer to it, as in a one_hot.
///
/// Example with the dim e of experts:
///
///   gate = one_hot(topk(softmax(h · router)))   e is routed
///   a    = einsum td,edh->eth  h, up
///   y    = einsum eth,ehd->etd a, down          e is the batch of a weight
///   out  = einsum te,etd->td   gate, y          the same e in both operands
bool tagExperts(ShardedGraph &graph);

/// The expert region of a graph, that is, the ops around the experts of a
/// mixture-of-experts layer. Only in this region may the axes `dp` and `cp`
/// split more dims than the batch and the sequence. Also finds the vertices
/// that must divide an expert weight or the expert outputs.
///
///   stream -> norm -> router, dispatch -> experts -> combination -> + stream
///             |--------------------- inside -------------------|
class ExpertRegion {
public:
  /// Finds the expert region (the ops around the experts) of `graph`.
  /// tagExperts must have tagged the dims of experts before.
  explicit ExpertRegion(const ShardedGraph &graph);

  /// Returns whether vertex `op` of the graph is in the expert region (the ops
  /// around the experts):
  ///
  /// - A vertex with a dim of experts is inside.
  /// - A vertex is inside if all users of its results are inside.
  /// - Inputs and outputs are outside.
  /// - The ops that choose the experts of each token are outside if this saves
  ///   bytes. A token is then sent only to the ranks of its chosen experts.
  bool contains(unsigned op) const { return inside.test(op); }

  /// Returns the penalty of splitting vertex `index` of the graph from `before`
  /// to `after` over the sub-axis `axis`. The penalty is 0 unless all of these
  /// hold:
  ///
  /// - The vertex must divide experts.
  /// - It has enough experts for `axis`.
  /// - `after` does not split the experts over `axis`.
  ///
  /// The penalty is then the bytes of the tensor that stays undivided: an
  /// expert weight, or the expert outputs in their weighted sum.
  double undividedBytes(unsigned index, const ShardedOp &before,
                        const ShardedOp &after,
                        const dist::SubAxis &axis) const;

private:
  /// Removes gates, and the ops that compute them, from the expert region (the
  /// ops around the experts). Gates are the weights in a sum of expert outputs.
  /// The vertex `sum` computes this sum.
  void leaveGates(const ShardedGraph &graph, unsigned sum);
  /// Sets `weights`: finds the vertices that must divide experts, and the
  /// tensor that each of them must divide.
  void addWeights(const ShardedGraph &graph);

  /// The tensor that one vertex must divide by experts: an expert weight, or
  /// the outputs of the experts.
  struct Weight {
    /// Bytes of the whole tensor (expert weight, or outputs of the experts).
    double bytes = 0;
    /// Index of the factor (dim, or part of a dim) that counts the experts,
    /// among the factors of the op; -1 if there is none.
    int factor = -1;
  };
  /// The vertices inside of the expert region (ops around the experts).
  llvm::BitVector inside;
  /// By vertex that must divide experts: the tensor that it must divide.
  llvm::DenseMap<unsigned, Weight> weights;
};

} // namespace pcc::shard

#endif // PCC_PASSES_4_SHARD_POLICY_EXPERTDIMS_H
