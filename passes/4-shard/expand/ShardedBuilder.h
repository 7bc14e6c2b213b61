//===- ShardedBuilder.h - builder of ops with inferred shardings ----------===//

#ifndef PCC_PASSES_4_SHARD_EXPAND_SHARDEDBUILDER_H
#define PCC_PASSES_4_SHARD_EXPAND_SHARDEDBUILDER_H

#include "dialects/graph/TensorBuilder.h"
#include "dialects/pipe/PipeDialect.h"
#include "passes/4-shard/graph/PropagateThroughOp.h"
#include "passes/4-shard/graph/ShardedOpAttrs.h"

namespace pcc::shard {

/// Builds several new ops that replace one op of a function. Each new op gets
/// the MLIR location and the pipeline stage of the replaced op. The builder
/// also decides which mesh axes split each new op. For most ops, this follows
/// from the shardings of the operands. For example, if the axis t splits the
/// rows of both operands of an add, then t also splits the rows of the result.
/// The builder inserts no communication. The pass `insert-reshards` inserts it
/// later.
class ShardedBuilder : public graph::TensorBuilder {
public:
  /// Prepares to replace the IR op `op.op`, which must not be null.
  explicit ShardedBuilder(const ShardedOp &op);

  /// Returns a scalar constant of the given value, with the element type of
  /// `like`.
  mlir::Value scalarLike(mlir::Value like, double value) {
    return scalar(graph::tensorType(like).getElementType(), value);
  }
  /// Returns a tensor with the numbers 0, 1, …, size - 1 along dim `dim`. The
  /// tensor has `rank` dims. All dims except `dim` have size 1. `type` is the
  /// element type, and `split` says which mesh axes split dim `dim`. For
  /// example, with size = 4, dim = 1 and rank = 3, the shape is [1, 4, 1], and
  /// the elements are 0, 1, 2 and 3.
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
  /// Builds a gather along dim `dim`: element i of the result is element
  /// indices[i] of `value`. For example, the indices [1, 2, 0] turn
  /// [10, 20, 30] into [20, 30, 10]. Mesh axes that split this dim of `value`
  /// also split it in the result.
  mlir::Value takeAlong(mlir::Value value, int64_t dim,
                        llvm::ArrayRef<int64_t> indices);
  /// Returns `value` after dim `dim` is padded at its end to `size` elements
  /// with the number `filling`. Axes that split this dim of `value` also split
  /// the padded dim.
  mlir::Value padDim(mlir::Value value, int64_t dim, int64_t size,
                     double filling);

private:
  /// Decides how ranks split `op`, stores this split in attributes of `op`, and
  /// returns the first result of `op`. `op` must be a slice, a pad or a gather
  /// of `value` that changes only the size of dim `dim`. Each dim of the result
  /// is split by the mesh axes that split this dim of `value`. Example, where
  /// 8@t is a dim of size 8 that the axis t splits:
  ///
  ///   value                [8@t, 6]
  ///   slice with 4 rows    [4@t, 6]
  mlir::Value resized(mlir::Operation *op, mlir::Value value, int64_t dim);
  /// Returns the sharding of `value` that the builder uses when it decides how
  /// ranks split a new op that reads `value`. The builder replaces one old op
  /// by new ops. There are three cases:
  ///
  /// - If `value` is an operand of the old op, returns the sharding in which
  ///   the old op needs this operand.
  /// - Otherwise, returns the sharding that the IR stores for `value`.
  /// - If the IR stores none, returns a sharding that splits no dim.
  dist::Sharding shardingOf(mlir::Value value) const;
  /// Sets two kinds of attributes on the new op `op`:
  ///
  /// - The pipeline stage. It is the stage of the op that `op` replaces. It is
  ///   not set if that op has no stage.
  /// - The mesh axes that split each dim of `op`. They follow from the
  ///   shardings of the operands. For example, if the axis t splits the rows of
  ///   both operands of an add, then t also splits the rows of the result.
  ///
  /// An operand may be incomplete. For example, each rank has one addend of a
  /// sum over ranks. The attributes then say that `op` needs the complete sum.
  /// The pass `insert-reshards` later inserts an op that adds the addends of
  /// all ranks.
  void finish(mlir::Operation *op) override;

  /// Stage of the op that the new ops replace; null if it has no stage.
  mlir::Attribute stage;
  /// Map from each operand of the replaced op to a sharding. The replaced op
  /// needs the operand in this sharding. The operand itself may have another
  /// sharding.
  llvm::SmallDenseMap<mlir::Value, dist::Sharding> wanted;
};

} // namespace pcc::shard

#endif // PCC_PASSES_4_SHARD_EXPAND_SHARDEDBUILDER_H
