//===- Expansions.h - expansions of ops with a split Inner factor ---------===//

#ifndef PCC_PASSES_4_SHARD_EXPAND_EXPANSIONS_H
#define PCC_PASSES_4_SHARD_EXPAND_EXPANSIONS_H

#include "passes/4-shard/expand/ShardedBuilder.h"
#include "llvm/ADT/StringMap.h"

namespace pcc::shard {

/// A function that replaces one op by ordinary ops, whose results have global
/// shapes. The op is one whose parts exchange values (it has a split Inner
/// factor), or an attention split as a ring or in stripes. Among the new ops,
/// only the values that the parts exchange need a reshard. Returns one value
/// per result of the op; null for a result without uses.
using Expansion = llvm::SmallVector<mlir::Value, 2> (*)(const ShardedOp &,
                                                        ShardedBuilder &);

/// The expansion functions by op name. There is one for every op whose rule has
/// Inner factors (dims whose parts exchange values). Each family of ops adds
/// its own in one of the functions below.
class Expansions {
public:
  /// Adds the expansions of all families of ops.
  Expansions();
  /// Adds the expansion of ops of type `Op`.
  template <typename Op> void add(Expansion expansion) {
    table[Op::getOperationName()] = expansion;
  }
  /// Returns the function that expands ops like `op`; null if there is none.
  Expansion find(mlir::Operation *op) const {
    return table.lookup(op->getName().getStringRef());
  }

private:
  llvm::StringMap<Expansion> table;
};

/// Adds the expansion of attention that is split as a ring or in stripes.
void addAttentionExpansions(Expansions &expansions);
/// Registers the expansions of softmax and log-softmax.
void addSoftmaxExpansions(Expansions &expansions);
/// Registers the expansions of layer norm and RMS norm.
void addNormExpansions(Expansions &expansions);
/// Registers the expansions of arg-reduce and top-k.
void addSelectionExpansions(Expansions &expansions);
/// Adds the expansion of cumulative sums.
void addScanExpansions(Expansions &expansions);

/// A dim that is cut into equal parts, one for each rank along its axes. The
/// last parts may have padding:
///
///   10@t with t = 4:  4 parts of 3, so 12 elements of which 2 are padding
struct CutDim {
  /// Takes dim number `dim` of the first operand of `op` and its sharding. The
  /// dim must consist of one Inner factor (whose parts exchange values).
  CutDim(const ShardedOp &op, int64_t dim);

  /// Returns `shape` after dim `dim` is replaced by two dims [count, size].
  llvm::SmallVector<int64_t> cut(llvm::ArrayRef<int64_t> shape,
                                 int64_t size) const;

  /// Index of the dim that is cut.
  int64_t dim;
  /// Sharding of the dim that is cut.
  dist::DimSharding sharding;
  /// Size of the dim, without padding.
  int64_t whole;
  /// Number of parts.
  int64_t count;
  /// Number of elements in each part, padding included.
  int64_t size;
};

} // namespace pcc::shard

#endif // PCC_PASSES_4_SHARD_EXPAND_EXPANSIONS_H
