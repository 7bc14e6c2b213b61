//===- ExpertDims.h - dims of experts, and the ops around experts ---------===//

#ifndef PCC_PASSES_4_SHARD_POLICY_EXPERTDIMS_H
#define PCC_PASSES_4_SHARD_POLICY_EXPERTDIMS_H

#include "passes/4-shard/graph/ExpertAxes.h"
#include "passes/4-shard/graph/ShardedGraph.h"
#include "llvm/ADT/BitVector.h"

namespace pcc::shard {

/// Gives the tag FactorTag::Expert to the dims that count the experts of
/// mixture-of-experts layers, such as 8 in a weight [8, 64, 256]. Returns
/// whether there are any. A dim counts experts if both of these hold:
///
/// - A router may have chosen experts along the dim. A softmax, topk or
///   arg_reduce works along it, or indices from a topk or arg_reduce point into
///   it.
/// - The dim is a batch dim of a contraction with a weight: a dim of the
///   weight, of the other operand and of the result.
bool tagExperts(ShardedGraph &graph);

/// The expert region of a graph: the ops with a dim that counts experts, and
/// the ops whose results are read only by ops of the region. The function
/// `contains` states an exception. In the picture, a layer reads x and adds its
/// result to x:
///
///   x -> norm -> router, dispatch -> experts -> combination -> add x
///        |--------------------- inside -------------------|
///
/// Outside of the region, the mesh axis `dp` splits only the batch, and `cp`
/// splits only the sequence or the attention heads. Inside, both may split
/// other dims, so that ranks can send tokens to the ranks of their experts.
class ExpertRegion {
public:
  /// Finds the ops of the expert region in `graph`. The expert region consists
  /// of the ops that compute the experts of mixture-of-experts layers, and of
  /// ops that only prepare or combine values for the experts. Call tagExperts
  /// before: it marks the dims that count experts.
  explicit ExpertRegion(const ShardedGraph &graph);

  /// Returns whether vertex `op` is in the expert region: one of its dims
  /// counts experts, or its results have users and all users are in the region.
  /// Function arguments and results are never in the region. Ops that compute
  /// gates (weights in the sum of expert outputs) are outside if ranks then
  /// exchange fewer bytes. In this case, a rank computes all gates of its
  /// tokens and sends each token only to the ranks of its chosen experts.
  bool contains(unsigned op) const { return inside.test(op); }

  /// Returns the penalty in bytes if `after` does not divide experts over
  /// `axis`. `before` and `after` are vertex `index` of the graph, without and
  /// with the sub-axis `axis` (mesh axis or part of one). The penalty is the
  /// size of the tensor that the vertex must split along the dim that counts
  /// experts. It is 0 if there is no such tensor, if `before` leaves too few
  /// experts to divide over `axis`, or if `after` splits the dim over `axis`.
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
