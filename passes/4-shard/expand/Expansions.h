//===- Expansions.h - expansions of ops with a split Inner factor ---------===//

#ifndef PCC_PASSES_4_SHARD_EXPAND_EXPANSIONS_H
#define PCC_PASSES_4_SHARD_EXPAND_EXPANSIONS_H

#include "passes/4-shard/expand/ShardedBuilder.h"
#include "llvm/ADT/StringMap.h"

namespace pcc::shard {

/// A function that replaces one op by ops of the global view that compute the
/// same. The op has a split Inner factor, or is an attention in a ring or in
/// stripes. Among the new ops, only the inner values of the op's rule need a
/// reshard. Returns one value per result of the op; null for a result without
/// uses.
using Expansion = llvm::SmallVector<mlir::Value, 2> (*)(const ShardedOp &,
                                                        ShardedBuilder &);

/// The expansions by op name. Every op whose rule has Inner factors has one.
/// Each family of ops registers its own, in the functions below.
class Expansions {
public:
  /// Registers all families.
  Expansions();
  /// Registers the expansion of `Op`.
  template <typename Op> void add(Expansion expansion) {
    table[Op::getOperationName()] = expansion;
  }
  /// Returns the expansion of `op`; null if there is none.
  Expansion find(mlir::Operation *op) const {
    return table.lookup(op->getName().getStringRef());
  }

private:
  llvm::StringMap<Expansion> table;
};

/// Registers the expansion of attention in a ring or in stripes.
void addAttentionExpansions(Expansions &expansions);
/// Registers the expansions of softmax and log-softmax.
void addSoftmaxExpansions(Expansions &expansions);
/// Registers the expansions of layer norm and RMS norm.
void addNormExpansions(Expansions &expansions);
/// Registers the expansions of arg-reduce and top-k.
void addSelectionExpansions(Expansions &expansions);
/// Registers the expansion of cumulative sums.
void addScanExpansions(Expansions &expansions);

/// A dim cut into the parts that its axes make, padded to equal parts:
///
///   10@t with t = 4:  4 parts of 3, so 12 elements of which 2 are padding
struct CutDim {
  /// Cuts dim `dim` of the first operand of `op`. The dim must consist of one
  /// Inner factor.
  CutDim(const ShardedOp &op, int64_t dim);

  /// Returns `shape` with the dim replaced by the two dims [count, size].
  llvm::SmallVector<int64_t> cut(llvm::ArrayRef<int64_t> shape,
                                 int64_t size) const;

  /// Index of the dim.
  int64_t dim;
  /// Sharding of the dim.
  dist::DimSharding sharding;
  /// Size of the dim, without padding.
  int64_t whole;
  /// Number of parts.
  int64_t count;
  /// Number of elements of each part, padding included.
  int64_t size;
};

} // namespace pcc::shard

#endif // PCC_PASSES_4_SHARD_EXPAND_EXPANSIONS_H
