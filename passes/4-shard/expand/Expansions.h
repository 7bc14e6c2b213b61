//===- Expansions.h - expansions of ops with a split Inner factor ---------===//

#ifndef PCC_PASSES_4_SHARD_EXPAND_EXPANSIONS_H
#define PCC_PASSES_4_SHARD_EXPAND_EXPANSIONS_H

#include "passes/4-shard/expand/ShardedBuilder.h"
#include "llvm/ADT/StringMap.h"

namespace pcc::shard {

/// A function that replaces a split op by ordinary ops with global shapes. The
/// split op is one of these:
///
/// - An op with a split Inner factor (dim whose parts exchange values), such as
///   a softmax along a split dim.
/// - A ring attention.
/// - An attention in stripes (pieces of the sequence).
///
/// Returns one value per result of the op; null for a result without uses.
using Expansion = llvm::SmallVector<mlir::Value, 2> (*)(const ShardedOp &,
                                                        ShardedBuilder &);

/// A table from names of ops to expansions, functions that replace a split op
/// by ordinary ops. It has an entry for attention, and for each op that may
/// have an Inner factor (a dim whose parts exchange values if it is split).
class Expansions {
public:
  /// Registers the expansions (functions that replace a split op by ordinary
  /// ops) of all kinds of ops.
  Expansions();
  /// Adds `expansion`, which replaces one op of type `Op` by ordinary ops.
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
/// Registers the functions that replace a softmax or a log-softmax along a
/// split dim by ordinary ops.
void addSoftmaxExpansions(Expansions &expansions);
/// Registers the functions that replace a layer norm or an RMS norm along a
/// split dim by ordinary ops.
void addNormExpansions(Expansions &expansions);
/// Registers the functions that replace an arg-reduce or a top-k along a split
/// dim by ordinary ops.
void addSelectionExpansions(Expansions &expansions);
/// Registers the function that replaces a cumulative sum along a split dim by
/// ordinary ops.
void addScanExpansions(Expansions &expansions);

/// A dim that is cut into equal parts, one for each rank along the mesh axes
/// that split it. The last parts may have padding:
///
///   10@t with t = 4:  4 parts of 3, so 12 elements of which 2 are padding
struct CutDim {
  /// Describes dim number `dim` of the first operand of `op`, with the sharding
  /// that `op` needs. `op` must work along this dim as a whole, as a softmax
  /// does along its dim. The sharding rule of `op` must not divide the dim into
  /// several factors.
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
