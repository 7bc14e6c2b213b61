//===- LocalOp.h - table of rewrites that make ops local, by op -----------===//

#ifndef PCC_PASSES_5_LOCALIZE_LOCALOP_H
#define PCC_PASSES_5_LOCALIZE_LOCALOP_H

#include "passes/5-localize/LocalBuilder.h"
#include "llvm/ADT/StringMap.h"

namespace pcc::localize {

/// An op while it is converted from global types to local types. A global type
/// has the shape of the whole tensor. A local type has the shape of one rank's
/// shard. Example: 2 ranks split dim 0 of a tensor. Its global type has the
/// shape [8, 4], and its local type has the shape [4, 4]. The operands of the
/// op have local types already. The results of the op still have global types.
struct LocalOp {
  /// The op that is being converted; never null.
  mlir::Operation *op;
  /// Sharding rule of `op`; empty if it has none. The rule lists the loop dims
  /// of `op` (Shardy's factors), with the sizes of the whole tensors. For
  /// example, the matmul [m,k] x [k,n] has the loop dims m, n and k. k is dim 1
  /// of operand 0 and dim 0 of operand 1.
  graph::ShardingRule rule;
  /// For each loop dim of `rule`, the mesh axes that split it, from the
  /// attribute `dist.split` of the op. The matmul [m,k] x [k,n] has the loop
  /// dims m, n and k. If tp splits k, the element of k contains tp, and those
  /// of m and n contain no axis.
  llvm::SmallVector<dist::DimSharding, 0> splits;
  /// Types of the operands with the shapes of the whole tensors. In `op`
  /// itself, the operands have the shapes of one rank's shard.
  llvm::SmallVector<mlir::RankedTensorType> operandTypes;
  /// Types of the results with the shapes of the whole tensors.
  llvm::SmallVector<mlir::RankedTensorType> resultTypes;

  /// Returns whether some mesh axis splits a loop dim of the op. `factor` is
  /// its index in `rule.factors`. For example, the matmul [m,k] x [k,n] has the
  /// loop dims m, n and k.
  bool isSplit(int factor) const { return !splits[factor].isWhole(); }
  /// Returns whether some mesh axis splits the outermost loop dim of a tensor
  /// dim. `dim` lists the loop dims of the op that make up the tensor dim,
  /// outermost first. For example, a reshape from [6, 4] to [24] has two loop
  /// dims, 6 and 4. Both together make up the tensor dim of 24 elements, and 6
  /// is the outermost. Returns false if `dim` is empty.
  bool isSplit(const graph::ShardingRule::DimFactors &dim) const {
    return !dim.empty() && isSplit(dim.front());
  }
  /// Returns the number of iterations that one rank makes over a loop dim of
  /// the op, padding included. `factor` is its index in `rule.factors`. If 2
  /// ranks split a loop dim of 5, the result is 3: rank 1 has 2 values and 1
  /// value of padding.
  int64_t localSize(int factor) const {
    return dist::localDim(splits[factor], rule.factors[factor].size);
  }
  /// Returns the window through which `op` reads dim `dim` of an operand.
  /// `operand` is the number of the operand. A rank reads a dim through a
  /// window if it needs elements of its own shard and of neighboring shards.
  /// Example: ranks split an image by rows. For a 3x3 filter, a rank also needs
  /// one row of each neighbor. Returns null if `op` does not read the dim
  /// through a window.
  const graph::ShardingRule::Window *windowOf(int operand, size_t dim) const;

  /// Returns the sharding of a tensor dim. `dim` lists the loop dims of the op
  /// that make up the tensor dim, outermost first. For example, a tensor dim of
  /// 24 elements has an outer loop dim of 6 and an inner loop dim of 4. If tp
  /// splits the outer one, the sharding is [6@tp|4].
  dist::DimSharding
  dimSharding(const graph::ShardingRule::DimFactors &dim) const;
};

/// A function that adapts one kind of op to local shapes. Returns the value
/// that replaces result 0. Returns null if the op itself stays, perhaps with
/// changed attributes and operands.
using Localizer = mlir::Value (*)(LocalOp &, LocalBuilder &);

/// Table of localizers. A localizer is a function that adapts one kind of op to
/// local shapes (shapes of one rank's shard). For example, the localizer of
/// slice changes the start and the size of the slice. An op such as add needs
/// no localizer. Only the type of its result changes to the local shape.
class Localizers {
public:
  /// Fills the table. Each function in the table adapts one kind of op, such as
  /// iota or slice, to local shapes (shapes of one rank's shard).
  Localizers();
  /// Enters `localizer` into the table, as the function that adapts ops of the
  /// kind `Op` to local shapes (shapes of one rank's shard). Replaces the
  /// function that the table had for `Op`, if any.
  template <typename Op> void add(Localizer localizer) {
    table[Op::getOperationName()] = localizer;
  }
  /// Returns the function that adapts `op` to local shapes; null if the table
  /// has none.
  Localizer find(mlir::Operation *op) const {
    return table.lookup(op->getName().getStringRef());
  }

private:
  /// For each op name, such as `graph.pad`: the function that converts the op
  /// to local shapes (shapes of one rank's shard).
  llvm::StringMap<Localizer> table;
};

/// Adds the localizers of reduce and constant to the table `localizers`. A
/// localizer is a function that adapts one kind of op to local shapes (shapes
/// of one rank's shard). The localizer of reduce makes a mean divide by the
/// number of elements on all ranks together. The localizer of constant slices
/// the rank's shard out of the constant.
void addLayoutLocalizers(Localizers &localizers);
/// Adds the localizers of these ops to the table `localizers`: attention, its
/// gradients, iota, gather, gather_elements and one_hot. A localizer is a
/// function that adapts one kind of op to local shapes (shapes of one rank's
/// shard). In these ops, a rank must know which elements of the whole tensor
/// its shard contains. For example, an iota of 8 elements is 4, 5, 6, 7 on rank
/// 1 of 2.
void addGlobalIndexLocalizers(Localizers &localizers);
/// Adds the localizers of scatter_elements and scatter_nd to the table
/// `localizers`. A localizer is a function that adapts one kind of op to local
/// shapes (shapes of one rank's shard). These two ops write elements at the
/// indices that an operand contains. If ranks split the written dim, each rank
/// writes only the elements of its own shard.
void addScatterLocalizers(Localizers &localizers);
/// Adds the localizers of slice, pad, concat, conv, conv_transpose and pool to
/// `localizers`. A localizer adapts one kind of op to local shapes (shapes of
/// one rank's shard). Except for conv_transpose, a rank may need operand
/// elements of another rank, such as the neighbor rows that a 3x3 filter reads.
/// A reshard before the op brings them to the rank (halo exchange).
void addHaloLocalizers(Localizers &localizers);

/// Returns the value that replaces the result of `local`, a gather with
/// constant indices. If a reshard before the op has sent each rank the elements
/// of its result, in the order of the indices, returns the operand or a copy.
/// Otherwise returns a slice of the operand, or a concat of several slices. For
/// example, the indices 0, 2, 4, 1 of an operand x give the slices x[0:5:2] and
/// x[1:2].
mlir::Value localizeConstantGather(LocalOp &local, LocalBuilder &builder);

/// Returns `operand` if it has one reader, else a copy. The caller sets the
/// sharding of the returned value, and other readers need `operand` with its
/// old sharding.
mlir::Value forwardOperand(mlir::Value operand, LocalBuilder &builder);

} // namespace pcc::localize

#endif // PCC_PASSES_5_LOCALIZE_LOCALOP_H
