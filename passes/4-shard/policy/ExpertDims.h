//===- ExpertDims.h - dims of experts, and the ops around experts ---------===//

#ifndef PCC_PASSES_4_SHARD_POLICY_EXPERTDIMS_H
#define PCC_PASSES_4_SHARD_POLICY_EXPERTDIMS_H

#include "passes/4-shard/graph/ExpertAxes.h"
#include "passes/4-shard/graph/ShardedGraph.h"
#include "llvm/ADT/BitVector.h"

namespace pcc::shard {

/// Gives the tag FactorTag::Expert to the factors (dims, or parts of dims) of
/// `graph` that count the experts of a mixture-of-experts layer. Returns false
/// if there are none. Names play no role. A dim is followed through all ops
/// that neither split, merge nor reduce it. It counts experts if these ops show
/// two properties:
///
/// - Batch dim of weights: in some contraction with a weight, the weight, the
///   other operand and the result have the dim, as E in [E, C, D] x [E, D, F].
/// - Routed: a softmax or a selection (topk, arg_reduce) works along the dim,
///   or the indices of a selection are positions in the dim. Examples of
///   positions are a one_hot, a scatter, and a comparison with 0, 1, …, E - 1.
///
///   gate  = one_hot(topk(softmax(h · router)))       [tokens, E]    routed
///   a     = einsum td,edh->eth  h, up                [E, tokens, F]
///   y     = einsum eth,ehd->etd a, down              a batch of weights
///   out   = einsum te,etd->td   gate, y              has both properties
///
/// Heads of attention lack one of the properties, so they are not tagged. If
/// each expert has a weight tensor of its own, there is no dim to tag.
bool tagExperts(ShardedGraph &graph);

/// The expert region of a graph: the ops around the experts in which tokens may
/// be divided in any way. Also finds the expert weights that must be divided
/// there.
///
///   stream -> norm -> router, dispatch -> experts -> combination -> + stream
///             |--------------------- inside -------------------|
class ExpertRegion {
public:
  /// Finds the expert region (the ops around the experts) of `graph`.
  /// tagExperts must have tagged the experts before.
  explicit ExpertRegion(const ShardedGraph &graph);

  /// Returns whether vertex `op` (an op of the graph) is inside of the expert
  /// region: routing, dispatch, experts, or the weighted sum of their outputs.
  /// A vertex is inside if it has a dim of experts, or if all readers of its
  /// results are inside. Inputs and outputs are outside. Outside vertices must
  /// split the batch or the sequence.
  ///
  /// Exception: routing is outside if it saves bytes to send each token only to
  /// the ranks of its chosen experts. The rank that has the token must then
  /// make the choice.
  bool contains(unsigned op) const { return inside.test(op); }

  /// Returns the penalty of splitting vertex `index` of the graph further, from
  /// `before` to `after`, over the sub-axis `axis`. The penalty is 0 unless all
  /// of these hold:
  ///
  /// - The vertex must divide experts.
  /// - It has enough experts for `axis`.
  /// - `after` does not split the experts over `axis`.
  ///
  /// The penalty is then the bytes of the tensor that stays undivided: an
  /// expert weight or, for a combination (weighted sum of expert outputs), the
  /// expert outputs.
  double undividedBytes(unsigned index, const ShardedOp &before,
                        const ShardedOp &after,
                        const dist::SubAxis &axis) const;

private:
  /// Removes from the expert region (ops around the experts) the gates that the
  /// combination `sum` reads, and the ops that only compute these gates. A gate
  /// is the weight of an expert for a token; `sum` is the sum of expert outputs
  /// weighted by the gates.
  void leaveGates(const ShardedGraph &graph, unsigned sum);
  /// Sets `weights`: finds the vertices (ops of the graph) that must divide
  /// experts, and the tensor that each of them must divide.
  void addWeights(const ShardedGraph &graph);

  /// The tensor that one vertex (op of the graph) must divide by experts: an
  /// expert weight, or the outputs of the experts.
  struct Weight {
    /// Bytes of the whole tensor (expert weight, or outputs of the experts).
    double bytes = 0;
    /// Index of the factor (dim, or part of one) of the op that counts the
    /// experts; -1 if there is none.
    int factor = -1;
  };
  /// The vertices (ops of the graph) inside of the expert region, that is,
  /// around the experts.
  llvm::BitVector inside;
  /// By vertex (op of the graph) that must divide experts: the tensor that the
  /// vertex must divide.
  llvm::DenseMap<unsigned, Weight> weights;
};

} // namespace pcc::shard

#endif // PCC_PASSES_4_SHARD_POLICY_EXPERTDIMS_H
