//===- Expansions.h - expansions of ops with a split Inner factor ---------===//

#ifndef PCC_PASSES_4_SHARD_EXPAND_EXPANSIONS_H
#define PCC_PASSES_4_SHARD_EXPAND_EXPANSIONS_H

#include "passes/4-shard/expand/ShardedBuilder.h"
#include "llvm/ADT/StringMap.h"

namespace pcc::shard {

/// Type of a function that builds several ordinary ops to replace one op. The
/// first parameter is the op, with the way in which ranks split it. The second
/// parameter is the builder of the new ops. The function returns one value for
/// each result of the op. The value replaces the result. It is null if nothing
/// reads the result.
///
/// The shapes of the new ops are the shapes of whole tensors, not of the part
/// on one rank. The replaced op is one of these:
///
/// - An op whose ranks exchange values while the op runs, such as a softmax
///   along a dim that ranks split.
/// - A ring attention.
/// - An attention in stripes. A stripe is a contiguous piece of the sequence.
using Expansion = llvm::SmallVector<mlir::Value, 2> (*)(const ShardedOp &,
                                                        ShardedBuilder &);

/// Table of functions of type Expansion. Each function replaces one kind of op
/// by several ordinary ops. The key is the name of the op, such as
/// "graph.softmax". The table has an entry for attention, and for each other op
/// whose ranks must exchange values if they split certain dims. For example, if
/// ranks split the dim of a softmax, they must exchange maxima and sums.
class Expansions {
public:
  /// Creates the table and fills it. The table has one function for each kind
  /// of op that pcc can replace by several simpler ops, such as softmax, top-k
  /// and attention.
  Expansions();
  /// Adds an entry to the table. The key is the name of the op class `Op`, such
  /// as "graph.softmax" for graph::SoftmaxOp. The value is the function
  /// `expansion`, which replaces an op of this class by several simpler ops.
  template <typename Op> void add(Expansion expansion) {
    table[Op::getOperationName()] = expansion;
  }
  /// Returns the function that replaces ops of the kind of `op` by ordinary
  /// ops; null if there is none.
  Expansion find(mlir::Operation *op) const {
    return table.lookup(op->getName().getStringRef());
  }

private:
  llvm::StringMap<Expansion> table;
};

/// Registers the function that replaces ring attention, and attention in
/// stripes (pieces of the sequence), by ordinary ops.
void addAttentionExpansions(Expansions &expansions);
/// Adds functions to the table `expansions`. The functions replace a softmax or
/// a log-softmax by several simpler ops. pcc calls them if ranks split the dim
/// along which the softmax works.
void addSoftmaxExpansions(Expansions &expansions);
/// Adds functions to the table `expansions`. The functions replace a layer norm
/// or an RMS norm by several simpler ops. pcc calls them if ranks split a dim
/// over which the norm computes its mean or its sum of squares.
void addNormExpansions(Expansions &expansions);
/// Adds functions to the table `expansions`. The functions replace an
/// arg-reduce (arg-max or arg-min) or a top-k by several simpler ops. pcc calls
/// them if ranks split the dim in which the op searches.
void addSelectionExpansions(Expansions &expansions);
/// Adds a function to the table `expansions`. The function replaces a
/// cumulative sum by several simpler ops. pcc calls it if ranks split the dim
/// along which the op adds elements.
void addScanExpansions(Expansions &expansions);

/// A dim that is cut into equal parts, one for each rank along the mesh axes
/// that split it. The last parts may have padding:
///
///   10@t with t = 4:  4 parts of 3, so 12 elements of which 2 are padding
struct CutDim {
  /// Describes dim number `dim` of the first operand of `op`. `op` must work
  /// along this dim. For example, if `op` is a cumulative sum, it adds the
  /// elements along this dim. The member `sharding` describes how mesh axes
  /// split the dim when `op` reads the operand.
  ///
  /// pcc may divide a dim into several factors, so that a mesh axis can split
  /// one factor. For example, a dim of size 12 may consist of the factors 3 and
  /// 4. The dim of a CutDim must be a single factor.
  CutDim(const ShardedOp &op, int64_t dim);

  /// Returns a copy of `shape` in which dim `dim` is replaced by two dims: the
  /// number of parts, and `size`.
  ///
  ///   4 parts, dim 1:  cut([8, 10], 3) = [8, 4, 3]
  llvm::SmallVector<int64_t> cut(llvm::ArrayRef<int64_t> shape,
                                 int64_t size) const;

  /// Index of the dim in its tensor.
  int64_t dim;
  /// Sharding of the dim: the mesh axes that split it.
  dist::DimSharding sharding;
  /// Size of the whole dim, without padding.
  int64_t whole;
  /// Number of parts.
  int64_t count;
  /// Size of one part of the dim, with padding.
  int64_t size;
};

} // namespace pcc::shard

#endif // PCC_PASSES_4_SHARD_EXPAND_EXPANSIONS_H
