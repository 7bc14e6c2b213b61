//===- ShardedBuilder.h - builder of ops with inferred shardings ----------===//

#ifndef PCC_PASSES_4_SHARD_EXPAND_SHARDEDBUILDER_H
#define PCC_PASSES_4_SHARD_EXPAND_SHARDEDBUILDER_H

#include "dialects/graph/TensorBuilder.h"
#include "dialects/pipe/PipeDialect.h"
#include "passes/4-shard/graph/PropagateThroughOp.h"
#include "passes/4-shard/graph/ShardedOpAttrs.h"

namespace pcc::shard {

/// Builds ops in front of one op of a sharded function, in order to replace
/// that op. Each new op gets the op's location and stage, and a sharding that
/// follows from its operands (`propagateFromOperands`). For the operands of the
/// replaced op, this is the sharding that the op needs of them.
///
/// A new op may need another sharding than its operand has, for example a
/// partial sum reduced or a dim whole. `insert-reshards` adds the communication
/// there.
class ShardedBuilder : public graph::TensorBuilder {
public:
  /// Prepares to replace `op`, whose `op` must not be null.
  explicit ShardedBuilder(const ShardedOp &op);

  /// Builds an op through which the partial sums of its operands pass. Returns
  /// its first result.
  template <typename Op, typename... Args>
  mlir::Value makeLinear(Args &&...args) {
    auto op = Op::create(*this, location, std::forward<Args>(args)...);
    record(op, /*partialsPass=*/true);
    return op->getResult(0);
  }

  /// Returns `value` as a scalar of the element type of `like`.
  mlir::Value scalarLike(mlir::Value like, double value) {
    return scalar(graph::tensorType(like).getElementType(), value);
  }
  /// Returns the numbers 0, 1, …, size - 1 along dim `dim` of a tensor of
  /// `rank` dims, whose other dims have size 1. Dim `dim` is sharded like
  /// `split`.
  mlir::Value iota(int64_t size, int64_t dim, int64_t rank, mlir::Type type,
                   const dist::DimSharding &split);
  /// Returns `value` in f32 if its type is narrower, so that sums over many
  /// elements stay exact enough; else `value` itself.
  mlir::Value widen(mlir::Value value);
  /// Returns the reduction of `value` over `dims`; with `keep`, these dims
  /// remain with size 1. The result is partial along the axes that split
  /// `dims`.
  mlir::Value reduce(graph::ReduceKind kind, mlir::Value value,
                     llvm::ArrayRef<int64_t> dims, bool keep = true);
  /// Returns the elements from `start` to `start + size` of one dim, split by
  /// the axes that split the dim before.
  mlir::Value sliceDim(mlir::Value value, int64_t dim, int64_t start,
                       int64_t size);
  /// Returns the elements at constant `indices` of one dim, split by the axes
  /// that split the dim before.
  mlir::Value takeAlong(mlir::Value value, int64_t dim,
                        llvm::ArrayRef<int64_t> indices);
  /// Returns `value` with `dim` padded at its end to `size` elements by the
  /// value `filling`, split by the axes that split the dim before.
  mlir::Value padDim(mlir::Value value, int64_t dim, int64_t size,
                     double filling);

private:
  /// Returns the result of `op`, which gives dim `dim` of `value` another size.
  /// Its sharding is that of `value`, with the same axes on the resized dim.
  mlir::Value resized(mlir::Operation *op, mlir::Value value, int64_t dim);
  /// Returns the sharding of `value` for new users.
  dist::Sharding shardingOf(mlir::Value value) const;
  /// Records a new op through which no partial sums pass.
  void finish(mlir::Operation *op) override {
    record(op, /*partialsPass=*/false);
  }
  /// Records the stage and the sharding of a new op in its attributes.
  void record(mlir::Operation *op, bool partialsPass);

  /// The stage of the replaced op; null without stages.
  mlir::Attribute stage;
  /// Per operand of the replaced op: the sharding that new ops need of it.
  llvm::SmallDenseMap<mlir::Value, dist::Sharding> wanted;
};

} // namespace pcc::shard

#endif // PCC_PASSES_4_SHARD_EXPAND_SHARDEDBUILDER_H
