//===- ExpertDims.h - dims of experts, and the ops around experts ---------===//

#ifndef PCC_PASSES_4_SHARD_POLICY_EXPERTDIMS_H
#define PCC_PASSES_4_SHARD_POLICY_EXPERTDIMS_H

#include "passes/4-shard/graph/ExpertAxes.h"
#include "passes/4-shard/graph/ShardedGraph.h"
#include "llvm/ADT/BitVector.h"

namespace pcc::shard {

/// Finds the dims that count the experts of mixture-of-experts layers in
/// `graph`. An example is the first dim of a weight of shape [8, 64, 256],
/// which contains one matrix for each of 8 experts. Gives the tag
/// FactorTag::Expert to these dims in all ops that have them. Returns whether
/// there are such dims. There are none, for example, if each expert has a
/// separate weight tensor.
///
/// A router computes a score of each expert for each token, and chooses the
/// experts with the largest scores. A dim counts experts if both of these hold:
///
/// - A router may have chosen along the dim. This is possible if a softmax, a
///   topk or an arg_reduce works along the dim. It is also possible if an op
///   uses indices from a topk or an arg_reduce as indices into the dim. For
///   example, a one_hot makes [0, 0, 1, 0] of the index 2. The new dim has 4
///   elements, and the index 2 is an index into this dim.
/// - The dim is a batch dim of a contraction with a weight. A batch dim is a
///   dim of the weight, of the other operand and of the result.
///
/// Example with the dims t (tokens), e (experts), d and f (features):
///
///   gate = one_hot(topk(softmax(x * router)))  topk works along e
///   a    = einsum "td,edf->etf" x, up          e is a dim of the weight up
///   y    = einsum "etf,efd->etd" a, down       e is a batch dim of this einsum
///   out  = einsum "te,etd->td" gate, y         e of gate is also e of y
bool tagExperts(ShardedGraph &graph);

/// The expert region of a graph: the ops that have a dim that counts experts,
/// and the ops whose results are read only by ops of the region. The function
/// `contains` describes an exception. In the picture, a mixture-of-experts
/// layer reads x and adds its result to x:
///
///   x -> norm -> router, dispatch -> experts -> combination -> add x
///        |--------------------- inside -------------------|
///
/// Outside of the region, the mesh axis `dp` (data parallelism) splits only the
/// batch. The mesh axis `cp` (context parallelism) splits only the sequence, or
/// the heads of attention. Inside of the region, both axes may also split other
/// dims. Ranks can therefore send tokens to the ranks of their experts.
///
/// The class also finds the ops that must split a weight of the experts, or the
/// outputs of the experts, along the dim that counts experts.
class ExpertRegion {
public:
  /// Finds the ops of the expert region in `graph`. The expert region consists
  /// of the ops that compute the experts of mixture-of-experts layers, and of
  /// ops that only prepare or combine values for the experts. Call tagExperts
  /// before: it marks the dims that count experts.
  explicit ExpertRegion(const ShardedGraph &graph);

  /// Returns whether vertex `op` of the graph is in the expert region. An op is
  /// in the expert region in two cases:
  ///
  /// - One of its dims counts experts.
  /// - Its results have users, and all of these users are in the region.
  ///
  /// Function arguments and function results are never in the region. There is
  /// one more exception. Gates are the weights in the weighted sum of the
  /// outputs of experts. The ops that compute gates are outside of the region
  /// if ranks exchange fewer bytes in this way. A rank then computes all gates
  /// of its tokens, and sends each token only to the ranks of its chosen
  /// experts. Otherwise, every rank receives all tokens, and computes the gates
  /// of its own experts.
  bool contains(unsigned op) const { return inside.test(op); }

  /// Returns the penalty for a split that does not divide experts. `before` and
  /// `after` are two splits of vertex `index` of the graph. `after` uses one
  /// more sub-axis than `before`: the sub-axis `axis`. A sub-axis is a mesh
  /// axis or a part of a mesh axis. Ranks divide experts over `axis`.
  ///
  /// The penalty is 0 in three cases:
  ///
  /// - The vertex has no tensor that must be split along the dim that counts
  ///   experts.
  /// - There are too few experts. For example, `before` splits 4 experts into 4
  ///   parts already.
  /// - `after` splits the dim that counts experts over `axis`.
  ///
  /// In all other cases, the penalty is the size of the tensor in bytes. The
  /// tensor is a weight of the experts, or the outputs of the experts.
  double undividedBytes(unsigned index, const ShardedOp &before,
                        const ShardedOp &after,
                        const dist::SubAxis &axis) const;

private:
  /// Removes gates, and the ops that compute them, from the expert region (the
  /// ops around the experts). Gates are the weights in a sum of expert outputs.
  /// The vertex `sum` computes this sum.
  void leaveGates(const ShardedGraph &graph, unsigned sum);
  /// Fills the map `weights`. Its keys are the vertices (ops of the graph) that
  /// must split a tensor along the dim that counts experts. An example is a
  /// matmul with a weight of shape [8 experts, 64, 256]. The value for a key
  /// describes the tensor.
  void addWeights(const ShardedGraph &graph);

  /// A tensor that an op must split over ranks along the dim that counts
  /// experts. For example, 4 ranks split a tensor [8, 64, 256] of 8 experts
  /// into 4 tensors [2, 64, 256]. The tensor is a weight of the experts, or the
  /// outputs of the experts.
  struct Weight {
    /// Bytes of the whole tensor (expert weight, or outputs of the experts).
    double bytes = 0;
    /// Index of the factor (dim, or part of a dim) that counts the experts,
    /// among the factors of the op; -1 if there is none.
    int factor = -1;
  };
  /// One bit for each vertex of the graph. The bit is set if the vertex is in
  /// the expert region. The expert region consists of the ops that compute the
  /// experts of mixture-of-experts layers, and of ops that only prepare or
  /// combine values for the experts.
  llvm::BitVector inside;
  /// Maps a vertex of the graph to the tensor that the vertex must split along
  /// the dim that counts experts. Vertices without such a tensor are not in the
  /// map.
  llvm::DenseMap<unsigned, Weight> weights;
};

} // namespace pcc::shard

#endif // PCC_PASSES_4_SHARD_POLICY_EXPERTDIMS_H
