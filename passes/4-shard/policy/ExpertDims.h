//===- ExpertDims.h - dims of experts, and the ops around experts ---------===//

#ifndef PCC_PASSES_4_SHARD_POLICY_EXPERTDIMS_H
#define PCC_PASSES_4_SHARD_POLICY_EXPERTDIMS_H

#include "passes/4-shard/graph/ExpertAxes.h"
#include "passes/4-shard/graph/ShardedGraph.h"
#include "llvm/ADT/BitVector.h"

namespace pcc::shard {

/// Gives the tag FactorTag::Expert to the dims that count the experts of
/// mixture-of-experts layers. An expert dim fulfills two conditions: it is a
/// batch dim of a contraction with a weight, and a router may have chosen
/// experts along this dim, for example by a topk. Returns whether there are any
/// expert dims.
bool tagExperts(ShardedGraph &graph);

/// The ops with a dim that counts experts, and the ops whose results only these
/// ops read. In the region, `dp` and `cp` may also split dims other than the
/// batch and the sequence, so that tokens can move to the ranks of their
/// experts.
///
///   x -> norm -> router, dispatch -> experts -> combination -> add x
///        |--------------------- inside -------------------|
class ExpertRegion {
public:
  /// Finds the expert region of `graph`. tagExperts must have marked the dims
  /// that count experts.
  explicit ExpertRegion(const ShardedGraph &graph);

  /// Returns whether node `op` is in the expert region: it has a dim of
  /// experts, or all its users are in the region. Function arguments and
  /// results are never inside. Ops that compute gates (weights of expert
  /// outputs) are outside if ranks then exchange fewer bytes.
  bool contains(unsigned op) const { return inside.test(op); }

  /// Returns a penalty if node `index` should split its expert dim over `axis`
  /// but does not: the bytes of the tensor that the node must split along this
  /// dim. Returns 0 if the node splits the dim over `axis`, or if there are too
  /// few experts. `before` is the sharding of the node before the search
  /// assigns `axis`, and `after` is the sharding with `axis`.
  double undividedBytes(unsigned index, const ShardedOp &before,
                        const ShardedOp &after,
                        const dist::SubAxis &axis) const;

private:
  /// Removes gates, and the ops that compute them, from the expert region (the
  /// ops around the experts). Gates are the weights in a sum of expert outputs.
  /// The node `sum` computes this sum.
  void leaveGates(const ShardedGraph &graph, unsigned sum);
  /// Fills `weights` with the nodes that must split a tensor along its expert
  /// dim.
  void addWeights(const ShardedGraph &graph);

  /// A tensor that an op must split along its expert dim: an expert weight,
  /// such as [8 experts, 64, 256], or the outputs of the experts.
  struct Weight {
    /// Bytes of the whole tensor (expert weight, or outputs of the experts).
    double bytes = 0;
    /// Index of the loop dim that counts the experts, among the loop dims of
    /// the op; -1 if there is none.
    int factor = -1;
  };
  /// One bit for each node of the graph: whether it is in the expert region.
  llvm::BitVector inside;
  /// Maps a node of the graph to the tensor that the node must split along the
  /// dim that counts experts. Nodes that need not split any tensor are not in
  /// the map.
  llvm::DenseMap<unsigned, Weight> weights;
};

} // namespace pcc::shard

#endif // PCC_PASSES_4_SHARD_POLICY_EXPERTDIMS_H
