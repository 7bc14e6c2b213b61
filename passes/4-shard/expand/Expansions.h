//===- Expansions.h - ops whose parts exchange inner values, as ops -------===//

#ifndef PCC_PASSES_4_SHARD_EXPAND_EXPANSIONS_H
#define PCC_PASSES_4_SHARD_EXPAND_EXPANSIONS_H

#include "passes/4-shard/expand/ShardedBuilder.h"
#include "llvm/ADT/StringMap.h"

namespace pcc::shard {

/// Makes ops of the global view that compute what one op with a split Inner
/// factor, a ring or stripes computes, and in which the inner values of its
/// rule are the only values that have to be resharded. Returns a value per
/// result; null for one without uses.
using Expansion = llvm::SmallVector<mlir::Value, 2> (*)(const ShardedOp &,
                                                        ShardedBuilder &);

/// Expansions by op name: every op whose rule has Inner factors has one. One
/// registration function per family.
class Expansions {
public:
  Expansions();
  template <typename Op> void add(Expansion expansion) {
    table[Op::getOperationName()] = expansion;
  }
  Expansion find(mlir::Operation *op) const {
    return table.lookup(op->getName().getStringRef());
  }

private:
  llvm::StringMap<Expansion> table;
};

void addAttentionExpansions(Expansions &expansions);
void addSoftmaxExpansions(Expansions &expansions);
void addNormExpansions(Expansions &expansions);
void addSelectionExpansions(Expansions &expansions);
void addScanExpansions(Expansions &expansions);

/// A dim cut into the parts that its axes make:
///   10@t with t = 4:  4 parts of 3, so 12 elements of which 2 are padding
struct CutDim {
  /// Dim `dim` of the first operand of `op`, whose one factor is Inner.
  CutDim(const ShardedOp &op, int64_t dim);

  /// `shape` with the dim as [count, size].
  llvm::SmallVector<int64_t> cut(llvm::ArrayRef<int64_t> shape,
                                 int64_t size) const;

  int64_t dim;
  dist::DimSharding sharding; ///< of the dim
  int64_t whole;              ///< its size
  int64_t count;              ///< of parts
  int64_t size;               ///< of each
};

} // namespace pcc::shard

#endif // PCC_PASSES_4_SHARD_EXPAND_EXPANSIONS_H
