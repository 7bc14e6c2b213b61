//===- ShardedBuilder.h - builds ops that know how they lie ---------------===//

#ifndef PCC_PASSES_4_SHARD_EXPAND_SHARDEDBUILDER_H
#define PCC_PASSES_4_SHARD_EXPAND_SHARDEDBUILDER_H

#include "dialects/graph/TensorBuilder.h"
#include "dialects/pipe/PipeDialect.h"
#include "passes/4-shard/graph/PropagateThroughOp.h"
#include "passes/4-shard/graph/ShardedOpAttrs.h"

namespace pcc::shard {

/// Builds ops in front of one op of a sharded function. Each gets that op's
/// location and stage, and lies as its operands do (`propagateFromOperands`), which
/// lie for the op's own operands as the op wants them. Where a new op wants
/// another sharding than its operand has, a partial sum reduced or a dim whole,
/// `insert-reshards` communicates.
class ShardedBuilder : public graph::TensorBuilder {
public:
  explicit ShardedBuilder(const ShardedOp &op);

  /// The first result of a new op through which the partial sums of its
  /// operands pass.
  template <typename Op, typename... Args>
  mlir::Value makeLinear(Args &&...args) {
    auto op = Op::create(*this, location, std::forward<Args>(args)...);
    record(op, /*partialsPass=*/true);
    return op->getResult(0);
  }

  mlir::Value scalarLike(mlir::Value like, double value) {
    return scalar(graph::tensorType(like).getElementType(), value);
  }
  /// 0, 1, … along `dim` of a tensor of `rank` dims that have size 1 otherwise;
  /// it lies like `split`.
  mlir::Value iota(int64_t size, int64_t dim, int64_t rank, mlir::Type type,
                   const dist::DimSharding &split);
  /// `value` in a float type that is wide enough for sums over many elements.
  mlir::Value widen(mlir::Value value);
  mlir::Value reduce(graph::ReduceKind kind, mlir::Value value,
                     llvm::ArrayRef<int64_t> dims, bool keep = true);
  /// The elements from `start` to `start + size` of one dim; the same axes
  /// split it.
  mlir::Value sliceDim(mlir::Value value, int64_t dim, int64_t start,
                       int64_t size);
  /// The elements at `indices`, known by now, of one dim; the same axes split
  /// them.
  mlir::Value takeAlong(mlir::Value value, int64_t dim,
                        llvm::ArrayRef<int64_t> indices);
  /// `value` with `dim` grown to `size` by elements of `filling` at its end;
  /// the same axes split it.
  mlir::Value padDim(mlir::Value value, int64_t dim, int64_t size,
                     double filling);

private:
  /// The result of an op that gives dim `dim` of `value` another size, split as
  /// before.
  mlir::Value resized(mlir::Operation *op, mlir::Value value, int64_t dim);
  dist::Sharding shardingOf(mlir::Value value) const;
  void finish(mlir::Operation *op) override {
    record(op, /*partialsPass=*/false);
  }
  /// Gives a new op its stage and its sharding.
  void record(mlir::Operation *op, bool partialsPass);

  mlir::Attribute stage;
  /// How users want values that lie in another way: the operands of the op that
  /// is expanded.
  llvm::SmallDenseMap<mlir::Value, dist::Sharding> wanted;
};

} // namespace pcc::shard

#endif // PCC_PASSES_4_SHARD_EXPAND_SHARDEDBUILDER_H
