//===- LocalBuilder.h - builder of rank-dependent index values ------------===//

#ifndef PCC_PASSES_5_LOCALIZE_LOCALBUILDER_H
#define PCC_PASSES_5_LOCALIZE_LOCALBUILDER_H

#include "dialects/dist/DistDialect.h"
#include "dialects/graph/TensorBuilder.h"

namespace pcc::localize {

/// Builds graph ops in front of one op. New ops get the location of that op and
/// its `pipe.stage`. The values may depend on the coordinates of the executing
/// rank: masks of padding, offsets of a shard.
class LocalBuilder : public graph::TensorBuilder {
public:
  /// Inserts new ops directly before `before`.
  explicit LocalBuilder(mlir::Operation *before);

  /// Creates a `dist.global_index`: the global indices of the local elements of
  /// a dim with global size `size` and sharding `dim`. The result is [local
  /// size] x i64. Padding has indices of at least `size`.
  ///
  ///   size 6 on 4 ranks, rank 2: [4, 5]; rank 3: only padding, both at least 6
  mlir::Value globalIndex(const dist::DimSharding &dim, int64_t size);

  /// Reshapes `vector`, which has one dim, to a tensor of `rank` dims that
  /// broadcasts: dim `dim` has the size of `vector`, all others have size 1.
  mlir::Value along(mlir::Value vector, int64_t dim, int64_t rank);

protected:
  /// Sets `pipe.stage` on `op`, if the builder has a stage.
  void finish(mlir::Operation *op) override;

private:
  /// `pipe.stage` of the op in front of which ops are built; null if it has
  /// none.
  mlir::Attribute stage;
};

/// Returns whether all elements of `value` are known to be 0 at compile time.
/// Looks through broadcasts, pads and selects of zero constants.
bool isZero(mlir::Value value);

} // namespace pcc::localize

#endif // PCC_PASSES_5_LOCALIZE_LOCALBUILDER_H
