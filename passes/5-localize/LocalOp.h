//===- LocalOp.h - table of rewrites that make ops local, by op -----------===//

#ifndef PCC_PASSES_5_LOCALIZE_LOCALOP_H
#define PCC_PASSES_5_LOCALIZE_LOCALOP_H

#include "passes/5-localize/LocalBuilder.h"
#include "llvm/ADT/StringMap.h"

namespace pcc::localize {

/// One op while it is made local: its operands have local types, its results
/// still have global ones. Sizes in `rule` are global.
struct LocalOp {
  /// The op that is made local; never null.
  mlir::Operation *op;
  /// Sharding rule of the op; without factors if the op has none.
  graph::ShardingRule rule;
  /// Sharding of each factor of `rule`: the parts of the factor and the axes
  /// that split it (`dist.split`).
  llvm::SmallVector<dist::DimSharding, 0> splits;
  /// Global types of the operands.
  llvm::SmallVector<mlir::RankedTensorType> operandTypes;
  /// Global types of the results.
  llvm::SmallVector<mlir::RankedTensorType> resultTypes;

  /// Returns whether `factor` is split.
  bool isSplit(int factor) const { return !splits[factor].isWhole(); }
  /// Returns whether the first factor of `dim` is split. A dim without factors
  /// is not split.
  bool isSplit(const graph::ShardingRule::DimFactors &dim) const {
    return !dim.empty() && isSplit(dim.front());
  }
  /// Returns the number of indices of `factor` on one rank, padding included.
  int64_t localSize(int factor) const {
    return dist::localDim(splits[factor], rule.factors[factor].size);
  }
  /// Returns the window of the rule through which the op reads dim `dim` of
  /// operand `operand` (halo exchange). Returns null if the rule has no such
  /// window, or if `dist.windows` does not list it.
  const graph::ShardingRule::Window *windowOf(int operand, size_t dim) const;

  /// Returns the sharding of a dim with the rule's factors `dim`: the shardings
  /// of these factors, one after another.
  dist::DimSharding
  dimSharding(const graph::ShardingRule::DimFactors &dim) const;
};

/// Function that adapts one kind of op to local shapes. Returns the value that
/// replaces result 0. Returns null if the op stays, with or without changed
/// attributes and operands; the caller then sets the local types of its
/// results.
using Localizer = mlir::Value (*)(LocalOp &, LocalBuilder &);

/// Localizers by the name of the op. Ops without a localizer only change their
/// types.
class Localizers {
public:
  /// Fills the table by calling the registration functions below, one per
  /// family of ops.
  Localizers();
  /// Registers the localizer of `Op`, in place of an earlier one.
  template <typename Op> void add(Localizer localizer) {
    table[Op::getOperationName()] = localizer;
  }
  /// Returns the localizer of `op`; null if it has none.
  Localizer find(mlir::Operation *op) const {
    return table.lookup(op->getName().getStringRef());
  }

private:
  /// Localizers by the full name of the op, such as `graph.pad`.
  llvm::StringMap<Localizer> table;
};

/// Registers ops that depend on global sizes or start from a whole constant:
/// reduce (mean), constant.
void addLayoutLocalizers(Localizers &localizers);
/// Registers ops that need the global index of local elements: attention, iota,
/// gather, one_hot.
void addGlobalIndexLocalizers(Localizers &localizers);
/// Registers ops that write at computed indices: scatter_elements, scatter_nd.
void addScatterLocalizers(Localizers &localizers);
/// Registers ops that read dims through windows (halo exchange): slice, pad,
/// concat, convolutions, pool.
void addHaloLocalizers(Localizers &localizers);

/// Localizes a `graph.gather` whose constant indices the rule describes as a
/// window. If the gather reads through the window, the reshard has already
/// moved the elements and the operand is the result. Otherwise the result is a
/// concat of slices, one per stretch of the window.
mlir::Value localizeConstantGather(LocalOp &local, LocalBuilder &builder);

/// Returns the replacement of an op that has become the identity: its operand.
/// If other ops read the operand, too, returns a copy of it, because the
/// replacement gets the sharding of the op's result.
mlir::Value forwardOperand(mlir::Value operand, LocalBuilder &builder);

} // namespace pcc::localize

#endif // PCC_PASSES_5_LOCALIZE_LOCALOP_H
