//===- ShardedBuilder.h - builder of ops with inferred shardings ----------===//

#ifndef PCC_PASSES_4_SHARD_EXPAND_SHARDEDBUILDER_H
#define PCC_PASSES_4_SHARD_EXPAND_SHARDEDBUILDER_H

#include "dialects/graph/TensorBuilder.h"
#include "dialects/pipe/PipeDialect.h"
#include "passes/4-shard/graph/PropagateThroughOp.h"
#include "passes/4-shard/graph/ShardedOpAttrs.h"

namespace pcc::shard {

/// Builds the ops that replace one op of a sharded function. A new op is
/// inserted before the replaced op and gets its location and stage.
///
/// The sharding of a new op follows from the shardings of its operands
/// (`propagateFromOperands`). For an operand of the replaced op, this is the
/// sharding in which the replaced op needs it. The builder adds no
/// communication. Where a new op needs an operand in another sharding, the pass
/// `insert-reshards` adds it later.
class ShardedBuilder : public graph::TensorBuilder {
public:
  /// Prepares to replace the IR op `op.op`, which must not be null.
  explicit ShardedBuilder(const ShardedOp &op);

  /// Returns a scalar constant of the given value, with the element type of
  /// `like`.
  mlir::Value scalarLike(mlir::Value like, double value) {
    return scalar(graph::tensorType(like).getElementType(), value);
  }
  /// Returns a tensor that holds the numbers 0, 1, …, size - 1 along dim `dim`.
  /// It has `rank` dims; all dims except `dim` have size 1. Dim `dim` is
  /// sharded as `split`.
  mlir::Value iota(int64_t size, int64_t dim, int64_t rank, mlir::Type type,
                   const dist::DimSharding &split);
  /// Returns `value` converted to f32 if its element type is narrower, so that
  /// sums over many elements are accurate enough. Otherwise returns `value`.
  mlir::Value widen(mlir::Value value);
  /// Returns the reduction of `value` over `dims`. If `keep`, these dims stay
  /// with size 1; otherwise they are removed. The result is partial (still to
  /// be reduced over ranks) along the axes that split `dims`.
  mlir::Value reduce(graph::ReduceKind kind, mlir::Value value,
                     llvm::ArrayRef<int64_t> dims, bool keep = true);
  /// Returns a slice of `value`: the elements with the indices start to start +
  /// size - 1 along dim `dim`. Axes that split this dim of `value` also split
  /// it in the slice.
  mlir::Value sliceDim(mlir::Value value, int64_t dim, int64_t start,
                       int64_t size);
  /// Returns the elements of `value` with the constant `indices` along dim
  /// `dim`. Axes that split this dim of `value` also split it in the result.
  mlir::Value takeAlong(mlir::Value value, int64_t dim,
                        llvm::ArrayRef<int64_t> indices);
  /// Returns `value` after dim `dim` is padded at its end to `size` elements
  /// with the number `filling`. Axes that split this dim of `value` also split
  /// the padded dim.
  mlir::Value padDim(mlir::Value value, int64_t dim, int64_t size,
                     double filling);

private:
  /// Stores the sharding of the new op `op`, and returns its first result. `op`
  /// changes the size of dim `dim` of `value`. Its result is sharded like
  /// `value`, and dim `dim` is split over the same axes at its new size.
  mlir::Value resized(mlir::Operation *op, mlir::Value value, int64_t dim);
  /// Returns the sharding that new ops assume for `value`. For an operand of
  /// the replaced op, it is the sharding in which the replaced op needs the
  /// operand. For any other value, it is the sharding stored in the IR, or
  /// whole (not split) if none is stored.
  dist::Sharding shardingOf(mlir::Value value) const;
  /// Stores stage and sharding of a new op through which no partial sums pass.
  void finish(mlir::Operation *op) override;

  /// Stage of the replaced op; null if the function has no stages.
  mlir::Attribute stage;
  /// By operand of the replaced op: the sharding in which the replaced op needs
  /// the operand.
  llvm::SmallDenseMap<mlir::Value, dist::Sharding> wanted;
};

} // namespace pcc::shard

#endif // PCC_PASSES_4_SHARD_EXPAND_SHARDEDBUILDER_H
