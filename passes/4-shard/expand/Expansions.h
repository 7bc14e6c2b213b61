//===- Expansions.h - expansions of ops with a split Inner factor ---------===//

#ifndef PCC_PASSES_4_SHARD_EXPAND_EXPANSIONS_H
#define PCC_PASSES_4_SHARD_EXPAND_EXPANSIONS_H

#include "passes/4-shard/expand/ShardedBuilder.h"
#include "llvm/ADT/StringMap.h"

namespace pcc::shard {

/// Function that replaces one op by simpler ops of the dialect `graph`. Returns
/// one value with the global shape per result of the op. A value may be null if
/// no op reads the result.
using Expansion = llvm::SmallVector<mlir::Value, 2> (*)(const ShardedOp &,
                                                        ShardedBuilder &);

/// Table from op names to functions that replace an op by simpler ops. The
/// table contains attention ops, and ops during which ranks exchange values,
/// such as a softmax along a split dim.
class Expansions {
public:
  /// Creates the table and fills it. The table has one function for each kind
  /// of op that pcc can replace by several simpler ops, such as softmax, top-k
  /// and attention.
  Expansions();
  /// Adds a row to the table. The key is the name of the op class `Op`, such as
  /// "graph.softmax" for graph::SoftmaxOp. The value is the function
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

/// Adds a function to the table `expansions`. The function replaces an
/// attention by several simpler ops. pcc calls it for a ring attention, and for
/// a causal attention whose tokens are cut into stripes (ranges of consecutive
/// tokens).
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

/// Dim that is cut into equal shards, with padding at the end. For example, 10
/// elements on 4 ranks become 4 shards of 3, with 2 elements of padding.
struct CutDim {
  /// Describes how `op` splits dim `dim` of its first operand. This split may
  /// differ from the operand's sharding in the IR, because a reshard is
  /// inserted later. Each rank's shard of the dim must be contiguous.
  CutDim(const ShardedOp &op, int64_t dim);

  /// Returns `shape` with dim `dim` replaced by two dims: `count` and `size`.
  /// For example, with `dim` 0, `count` 4 and `size` 3, the shape [12, 5]
  /// becomes [4, 3, 5].
  llvm::SmallVector<int64_t> cut(llvm::ArrayRef<int64_t> shape,
                                 int64_t size) const;

  /// Index of the dim in its tensor.
  int64_t dim;
  /// Sharding of the dim: the mesh axes that split it.
  dist::DimSharding sharding;
  /// Size of the whole dim, without padding.
  int64_t whole;
  /// Number of shards of the dim.
  int64_t count;
  /// Size of one shard of the dim, with padding.
  int64_t size;
};

} // namespace pcc::shard

#endif // PCC_PASSES_4_SHARD_EXPAND_EXPANSIONS_H
