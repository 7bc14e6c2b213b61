//===- LocalOp.h - table of rewrites that make ops local, by op -----------===//

#ifndef PCC_PASSES_5_LOCALIZE_LOCALOP_H
#define PCC_PASSES_5_LOCALIZE_LOCALOP_H

#include "passes/5-localize/LocalBuilder.h"
#include "llvm/ADT/StringMap.h"

namespace pcc::localize {

/// An op while it is converted to local shapes (shapes of one rank's shard).
/// Its operands have local types already, its results still global ones. Sizes
/// in `rule` are global.
struct LocalOp {
  /// The op that is being converted; never null.
  mlir::Operation *op;
  /// Sharding rule of `op`, which maps dims to factors (like letters of an
  /// einsum). Empty if the op has no rule.
  graph::ShardingRule rule;
  /// For each factor of `rule`, the axes that split it (from the attribute
  /// `dist.split`).
  llvm::SmallVector<dist::DimSharding, 0> splits;
  /// Global types of the operands.
  llvm::SmallVector<mlir::RankedTensorType> operandTypes;
  /// Global types of the results.
  llvm::SmallVector<mlir::RankedTensorType> resultTypes;

  /// Returns whether some axis splits a factor of the sharding rule.
  bool isSplit(int factor) const { return !splits[factor].isWhole(); }
  /// Returns whether some axis splits the first (most major) factor of a dim. A
  /// factor is a loop index of the sharding rule, like a letter of an einsum.
  /// `dim` lists the factors of the dim. Returns false for an empty list.
  bool isSplit(const graph::ShardingRule::DimFactors &dim) const {
    return !dim.empty() && isSplit(dim.front());
  }
  /// Returns the number of elements of one rank along a factor of the sharding
  /// rule, padding included.
  int64_t localSize(int factor) const {
    return dist::localDim(splits[factor], rule.factors[factor].size);
  }
  /// Returns the window (halo exchange) through which the op reads dim `dim` of
  /// an operand; null if there is none.
  const graph::ShardingRule::Window *windowOf(int operand, size_t dim) const;

  /// Returns the sharding of a dim. `dim` lists the dim's factors in the
  /// sharding rule (like letters of an einsum), major to minor.
  dist::DimSharding
  dimSharding(const graph::ShardingRule::DimFactors &dim) const;
};

/// A function that adapts one kind of op to local shapes. Returns the value
/// that replaces result 0. Returns null if the op itself stays, perhaps with
/// changed attributes and operands.
using Localizer = mlir::Value (*)(LocalOp &, LocalBuilder &);

/// Table of localizers, which are functions that adapt an op to local shapes.
/// An op without a localizer only gets local types.
class Localizers {
public:
  /// Fills the table with all localizers of this directory.
  Localizers();
  /// Registers `localizer` for ops of the kind `Op`. Replaces an earlier
  /// localizer of this kind.
  template <typename Op> void add(Localizer localizer) {
    table[Op::getOperationName()] = localizer;
  }
  /// Returns the function that adapts `op` to local shapes; null if the table
  /// has none.
  Localizer find(mlir::Operation *op) const {
    return table.lookup(op->getName().getStringRef());
  }

private:
  /// For each op name, such as `graph.pad`: the function that converts the op
  /// to local shapes (shapes of one rank's shard).
  llvm::StringMap<Localizer> table;
};

/// Registers the localizers of reduce (a mean divides by the global count) and
/// constant (each rank keeps its part).
void addLayoutLocalizers(Localizers &localizers);
/// Registers the localizers of ops that need the global indices of a rank's
/// elements: attention, iota, gather, gather_elements, one_hot.
void addGlobalIndexLocalizers(Localizers &localizers);
/// Registers the localizers of ops that write at computed indices:
/// scatter_elements, scatter_nd.
void addScatterLocalizers(Localizers &localizers);
/// Registers the localizers of ops that may read dims through windows (halo
/// exchange): slice, pad, concat, convolutions, pool.
void addHaloLocalizers(Localizers &localizers);

/// Adapts a gather with constant indices to local shapes. Returns:
///
/// - the operand of the gather, if the gather reads it through a window (halo
///   exchange): a reshard before the gather has already moved the elements;
/// - otherwise a concat of slices of the operand, one for each contiguous range
///   of indices.
mlir::Value localizeConstantGather(LocalOp &local, LocalBuilder &builder);

/// Returns a value to replace the result of an identity op: the operand, or a
/// copy if other ops read the operand. The copy can get its own sharding.
mlir::Value forwardOperand(mlir::Value operand, LocalBuilder &builder);

} // namespace pcc::localize

#endif // PCC_PASSES_5_LOCALIZE_LOCALOP_H
