//===- LocalOp.h - table of rewrites that make ops local, by op -----------===//

#ifndef PCC_PASSES_5_LOCALIZE_LOCALOP_H
#define PCC_PASSES_5_LOCALIZE_LOCALOP_H

#include "passes/5-localize/LocalBuilder.h"
#include "llvm/ADT/StringMap.h"

namespace pcc::localize {

/// An op while it is being converted to local shapes: its operands already have
/// local types (of one rank's shard), its results still have global ones. Sizes
/// in `rule` are global.
struct LocalOp {
  /// The op that is being converted; never null.
  mlir::Operation *op;
  /// Sharding rule of `op`: it maps dims to factors, which are like the letters
  /// of an einsum. Empty if the op has no rule.
  graph::ShardingRule rule;
  /// For each factor (like a letter of an einsum) of `rule`, the axes over
  /// which it is split. Taken from the attribute `dist.split`.
  llvm::SmallVector<dist::DimSharding, 0> splits;
  /// Global types of the operands.
  llvm::SmallVector<mlir::RankedTensorType> operandTypes;
  /// Global types of the results.
  llvm::SmallVector<mlir::RankedTensorType> resultTypes;

  /// Returns whether a factor of the sharding rule, like a letter of an einsum,
  /// is split over some axis.
  bool isSplit(int factor) const { return !splits[factor].isWhole(); }
  /// Returns whether the first factor of a dim is split over some axis. `dim`
  /// lists the dim's factors in the sharding rule; a dim without factors is not
  /// split.
  bool isSplit(const graph::ShardingRule::DimFactors &dim) const {
    return !dim.empty() && isSplit(dim.front());
  }
  /// Returns the number of elements that one rank has along a factor of the
  /// sharding rule (like a letter of an einsum), padding included.
  int64_t localSize(int factor) const {
    return dist::localDim(splits[factor], rule.factors[factor].size);
  }
  /// Returns the window through which the op reads dim `dim` of operand number
  /// `operand` (halo exchange). Returns null if the op uses no window there:
  /// the rule has none, or `dist.windows` does not list it.
  const graph::ShardingRule::Window *windowOf(int operand, size_t dim) const;

  /// Returns the sharding of a dim. `dim` lists the dim's factors in the
  /// sharding rule (like letters of an einsum), major to minor. The result
  /// lists how each factor is split, in this order.
  dist::DimSharding
  dimSharding(const graph::ShardingRule::DimFactors &dim) const;
};

/// A function that adapts one kind of op to local shapes. Returns the value
/// that replaces result 0. Returns null if the op stays (its attributes and
/// operands may have changed); the caller then sets the local types of its
/// results.
using Localizer = mlir::Value (*)(LocalOp &, LocalBuilder &);

/// Table of localizers, the functions that adapt an op to local shapes, by op
/// name. An op without a localizer only gets local types.
class Localizers {
public:
  /// Fills the table by calling the functions add…Localizers that are declared
  /// below.
  Localizers();
  /// Registers `localizer`, which adapts an op to local shapes, for ops of the
  /// kind `Op`. Replaces the localizer that was registered for `Op` before, if
  /// any.
  template <typename Op> void add(Localizer localizer) {
    table[Op::getOperationName()] = localizer;
  }
  /// Returns the function that adapts `op` to local shapes; null if the table
  /// has none.
  Localizer find(mlir::Operation *op) const {
    return table.lookup(op->getName().getStringRef());
  }

private:
  /// Functions that adapt an op to local shapes, by op name with dialect, such
  /// as `graph.pad`.
  llvm::StringMap<Localizer> table;
};

/// Registers two localizers (functions that adapt an op to local shapes). One
/// is for reduce: a mean must divide by the global count. One is for constant:
/// every rank slices its part out of all elements.
void addLayoutLocalizers(Localizers &localizers);
/// Registers the localizers (functions that adapt an op to local shapes) of ops
/// that need the global indices of a rank's elements: attention, iota, gather,
/// gather_elements, one_hot.
void addGlobalIndexLocalizers(Localizers &localizers);
/// Registers the localizers (functions that adapt an op to local shapes) of ops
/// that write at computed indices: scatter_elements, scatter_nd.
void addScatterLocalizers(Localizers &localizers);
/// Registers the localizers (functions that adapt an op to local shapes) of ops
/// that may read dims through windows (halo exchange): slice, pad, concat,
/// convolutions, pool.
void addHaloLocalizers(Localizers &localizers);

/// Converts a gather with constant indices to local shapes. The sharding rule
/// describes the indices as a window (range of the operand's dim that the op
/// reads). Returns the value that replaces the result:
///
/// - If the window is used: the operand. The reshard before the op has already
///   moved the elements to their places.
/// - Otherwise: a concat of slices, one per contiguous range of indices.
mlir::Value localizeConstantGather(LocalOp &local, LocalBuilder &builder);

/// Returns a value to replace the result of an op that has become the identity.
/// It is the operand or, if other ops read the operand, too, a copy of the
/// operand. A copy is then needed because the replacement gets the sharding of
/// the result, which other readers of the operand do not expect.
mlir::Value forwardOperand(mlir::Value operand, LocalBuilder &builder);

} // namespace pcc::localize

#endif // PCC_PASSES_5_LOCALIZE_LOCALOP_H
