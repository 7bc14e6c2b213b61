//===- ShardedBuilder.h - builder of ops with inferred shardings ----------===//

#ifndef PCC_PASSES_4_SHARD_EXPAND_SHARDEDBUILDER_H
#define PCC_PASSES_4_SHARD_EXPAND_SHARDEDBUILDER_H

#include "dialects/graph/TensorBuilder.h"
#include "dialects/pipe/PipeDialect.h"
#include "passes/4-shard/graph/PropagateThroughOp.h"
#include "passes/4-shard/graph/ShardedOpAttrs.h"

namespace pcc::shard {

/// Builds the ops that replace one op of a sharded function, with the location
/// and the stage of that op. The sharding of a new op follows from those of its
/// operands (`propagateFromOperands`). The builder adds no communication; the
/// pass `insert-reshards` does so later.
class ShardedBuilder : public graph::TensorBuilder {
public:
  /// Prepares to replace the IR op `op.op`, which must not be null.
  explicit ShardedBuilder(const ShardedOp &op);

  /// Returns a scalar constant of the given value, with the element type of
  /// `like`.
  mlir::Value scalarLike(mlir::Value like, double value) {
    return scalar(graph::tensorType(like).getElementType(), value);
  }
  /// Returns the numbers 0, 1, …, size - 1 along dim `dim`, as a tensor of
  /// `rank` dims. All other dims have size 1. Dim `dim` is sharded as `split`.
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
  /// Stores shardings on `op` as attributes, and returns the first result of
  /// `op`. `op` must be a slice, a pad or a gather of `value` that may change
  /// the size of dim `dim` only. The result gets the sharding of `value`: the
  /// same axes split dim `dim`, whatever its new size is.
  mlir::Value resized(mlir::Operation *op, mlir::Value value, int64_t dim);
  /// Returns the sharding of `value`. It decides the sharding of a new op that
  /// reads `value`. The old op is the op that the builder replaces:
  ///
  /// - If `value` is an operand of the old op, returns the sharding that the
  ///   old op needs for this operand.
  /// - Otherwise, returns the sharding that the IR stores for `value`.
  /// - If the IR stores none, returns a sharding that splits no dim.
  dist::Sharding shardingOf(mlir::Value value) const;
  /// Stores the pipeline stage and the sharding of a new op as attributes. The
  /// op must not take partial sums (values that ranks still have to add) as
  /// operands, so they are added before the op.
  void finish(mlir::Operation *op) override;

  /// Stage of the op that the new ops replace; null if it has no stage.
  mlir::Attribute stage;
  /// The new ops replace one op. For each operand of that op: the sharding in
  /// which the op needs the operand.
  llvm::SmallDenseMap<mlir::Value, dist::Sharding> wanted;
};

} // namespace pcc::shard

#endif // PCC_PASSES_4_SHARD_EXPAND_SHARDEDBUILDER_H
