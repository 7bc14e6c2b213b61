//===- LocalOp.h - what becoming local means for each op ------------------===//

#ifndef PCC_PASSES_5_LOCALIZE_LOCALOP_H
#define PCC_PASSES_5_LOCALIZE_LOCALOP_H

#include "passes/5-localize/LocalBuilder.h"
#include "llvm/ADT/StringMap.h"

namespace pcc::localize {

/// An op whose operands are local already and whose results are about to be:
/// its rule, the axes of each factor, and global types.
struct LocalOp {
  mlir::Operation *op;
  graph::ShardingRule rule;
  llvm::SmallVector<dist::DimSharding, 0>
      splits; ///< per factor: its parts and what splits them
  llvm::SmallVector<mlir::RankedTensorType> operandTypes; ///< global
  llvm::SmallVector<mlir::RankedTensorType> resultTypes;  ///< global

  bool isSplit(int factor) const { return !splits[factor].isWhole(); }
  bool isSplit(const graph::ShardingRule::DimFactors &dim) const {
    return !dim.empty() && isSplit(dim.front());
  }
  int64_t localSize(int factor) const {
    return dist::localDim(splits[factor], rule.factors[factor].size);
  }
  /// The window through which the op reads dim `dim` of an operand; null if it
  /// has none there or does not use it.
  const graph::ShardingRule::Window *windowOf(int operand, size_t dim) const;

  /// The one factor of a dim, as the sharding of that dim.
  dist::DimSharding
  dimSharding(const graph::ShardingRule::DimFactors &dim) const;
};

/// Adapts one kind of op. Returns the value that replaces result 0, or null if
/// the op stays (with its new type set by the caller).
using Localizer = mlir::Value (*)(LocalOp &, LocalBuilder &);

/// Localizers by op name; ops without one only change their types. One
/// registration function per family.
class Localizers {
public:
  Localizers();
  template <typename Op> void add(Localizer localizer) {
    table[Op::getOperationName()] = localizer;
  }
  Localizer find(mlir::Operation *op) const {
    return table.lookup(op->getName().getStringRef());
  }

private:
  llvm::StringMap<Localizer> table;
};

void addLayoutLocalizers(Localizers &localizers);
void addGlobalIndexLocalizers(Localizers &localizers);
void addScatterLocalizers(Localizers &localizers);
void addWindowLocalizers(Localizers &localizers);

/// A gather of constant indices, which reads through a window or, where it does
/// not, is made of slices.
mlir::Value localizeConstantGather(LocalOp &local, LocalBuilder &builder);

/// What replaces an op that has nothing left to do: its operand, as a value of
/// its own if others read that too.
mlir::Value forwardOperand(mlir::Value operand, LocalBuilder &builder);

} // namespace pcc::localize

#endif // PCC_PASSES_5_LOCALIZE_LOCALOP_H
