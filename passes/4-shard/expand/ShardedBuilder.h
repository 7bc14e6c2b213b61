//===- ShardedBuilder.h - builder of ops with inferred shardings ----------===//

#ifndef PCC_PASSES_4_SHARD_EXPAND_SHARDEDBUILDER_H
#define PCC_PASSES_4_SHARD_EXPAND_SHARDEDBUILDER_H

#include "dialects/graph/TensorBuilder.h"
#include "dialects/pipe/PipeDialect.h"
#include "passes/4-shard/graph/PropagateThroughOp.h"
#include "passes/4-shard/graph/ShardedOpAttrs.h"

namespace pcc::shard {

/// Builds the ops that replace one op. New ops get its location, its pipeline
/// stage, and shardings that follow from their operands. The builder inserts no
/// communication: the pass `insert-reshards` does so later.
class ShardedBuilder : public graph::TensorBuilder {
public:
  /// Prepares to replace the IR op `op.op`, which must not be null.
  explicit ShardedBuilder(const ShardedOp &op);

  /// Returns a scalar constant of the given value, with the element type of
  /// `like`.
  mlir::Value scalarLike(mlir::Value like, double value) {
    return scalar(graph::tensorType(like).getElementType(), value);
  }
  /// Returns the rounding error of scalarLike() for `like`, a tensor of f32 or
  /// f64: the value minus the constant. Ops that use the constant must also use
  /// the error if it is not 0, because `pcc verify` executes them in f64, and
  /// would report it.
  static double roundingError(mlir::Value like, double value) {
    return graph::tensorType(like).getElementType().isF64()
               ? 0
               : value - static_cast<double>(static_cast<float>(value));
  }
  /// Returns 0, 1, …, size - 1 along dim `dim` of a tensor with `rank` dims.
  /// All other dims have size 1. `split` is the sharding of dim `dim`.
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
  /// indices[i] of `value`. Mesh axes that split this dim of `value` also split
  /// it in the result.
  mlir::Value takeAlong(mlir::Value value, int64_t dim,
                        llvm::ArrayRef<int64_t> indices);
  /// Returns `value` after dim `dim` is padded at its end to `size` elements
  /// with the number `filling`. Axes that split this dim of `value` also split
  /// the padded dim.
  mlir::Value padDim(mlir::Value value, int64_t dim, int64_t size,
                     double filling);

private:
  /// Splits each dim of the result of `op` over the mesh axes that split this
  /// dim of `value`. Returns the result. `op` must be a slice, pad or gather of
  /// `value` that changes only the size of dim `dim`.
  mlir::Value resized(mlir::Operation *op, mlir::Value value, int64_t dim);
  /// Returns the sharding in which new ops read `value`. For an operand of the
  /// replaced op, it is the sharding in which the replaced op needs the
  /// operand. For any other value, it is the sharding in the IR. If the IR has
  /// none, every rank holds the whole value.
  dist::Sharding shardingOf(mlir::Value value) const;
  /// Sets the pipeline stage of the new op `op`, and infers its sharding from
  /// its operands. If an operand is a partial sum, `op` asks for the complete
  /// sum, and the pass `insert-reshards` adds the reduction.
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
