//===- Expansions.h - expansions of ops with a split Inner factor ---------===//

#ifndef PCC_PASSES_4_SHARD_EXPAND_EXPANSIONS_H
#define PCC_PASSES_4_SHARD_EXPAND_EXPANSIONS_H

#include "passes/4-shard/expand/ShardedBuilder.h"
#include "llvm/ADT/StringMap.h"

namespace pcc::shard {

/// Type of a function that replaces one op by simpler ops of the dialect
/// `graph`. For example, a maximum, a subtraction, an exponential, a sum and a
/// division replace a softmax. The parameters are the op with the mesh axes
/// that split it, and the builder of the new ops. Returns one value per result
/// of the op, with the shape of the whole tensor. The value may be null if no
/// op reads the result. The op is a ring attention, an attention in stripes
/// (Stripes.h), or an op whose ranks exchange values while it runs, such as a
/// softmax along a dim that ranks split.
using Expansion = llvm::SmallVector<mlir::Value, 2> (*)(const ShardedOp &,
                                                        ShardedBuilder &);

/// Table of functions of type Expansion. Each function replaces one kind of op
/// by several simpler ops. The key is the name of the op, such as
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
  /// Returns the function that replaces an op of the same kind as `op` by
  /// several simpler ops. The kind is the name of the op, such as
  /// "graph.softmax". Returns null if the table has no function for this kind.
  Expansion find(mlir::Operation *op) const {
    return table.lookup(op->getName().getStringRef());
  }

private:
  llvm::StringMap<Expansion> table;
};

/// Adds a function to the table `expansions`. The function replaces a ring
/// attention, or an attention in stripes, by several simpler ops. A stripe is a
/// contiguous piece of the sequence.
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
  /// Describes how `op` splits dim number `dim` of its first operand. `op` must
  /// work along this dim. For example, if `op` is a cumulative sum, it adds the
  /// elements along this dim. `op` decides which mesh axes split the dim, even
  /// if the operand has another sharding in the IR.
  ///
  /// In other shardings, a dim may consist of several factors. For example, a
  /// dim of size 12 may consist of the factors 3 and 4, and a mesh axis splits
  /// only the factor 3. Here, the dim must consist of one factor, so that each
  /// part is a contiguous range of the dim.
  CutDim(const ShardedOp &op, int64_t dim);

  /// Returns a copy of `shape` in which dim `dim` is replaced by two dims: the
  /// number of parts (`count`), and `size`. Example with dim = 1, count = 4 and
  /// size = 3:
  ///
  ///   `shape`   [8, 10]
  ///   result    [8, 4, 3]
  ///
  /// In the example, a dim of 10 elements is padded to 12 elements, and then
  /// cut into 4 parts of 3 elements. The function does not check that `size`
  /// fits the old size of the dim.
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
