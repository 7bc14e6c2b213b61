//===- LocalBuilder.h - builder of rank-dependent index values ------------===//

#ifndef PCC_PASSES_5_LOCALIZE_LOCALBUILDER_H
#define PCC_PASSES_5_LOCALIZE_LOCALBUILDER_H

#include "dialects/dist/DistDialect.h"
#include "dialects/graph/TensorBuilder.h"

namespace pcc::localize {

/// Builds graph ops before a given op, with its location and its `pipe.stage`.
/// The values may depend on the mesh coordinates of the rank, such as the
/// offset of its shard.
class LocalBuilder : public graph::TensorBuilder {
public:
  /// Creates a builder that inserts new ops directly before the op `before`.
  explicit LocalBuilder(mlir::Operation *before);

  /// Builds the global indices of this rank's elements along a dim: an i64
  /// vector of the local size. `size` is the global size of the dim, `dim` its
  /// sharding. Padding elements have indices of at least `size`.
  ///
  ///   size 6 on 4 ranks, rank 2: [4, 5]; rank 3: only padding, both at least 6
  mlir::Value globalIndex(const dist::DimSharding &dim, int64_t size);

  /// Reshapes `vector`, which has one dim, for broadcasting to a tensor with
  /// `rank` dims. The elements lie along dim `dim`; all other dims have size 1.
  /// For example, 5 elements get the shape [1, 5, 1] for dim 1 and rank 3.
  mlir::Value along(mlir::Value vector, int64_t dim, int64_t rank);

protected:
  /// Sets the `pipe.stage` of the new op `op`, unless there is no stage.
  void finish(mlir::Operation *op) override;

private:
  /// The `pipe.stage` of all new ops; null if there is none.
  mlir::Attribute stage;
};

/// Returns whether all elements of `value` are known to be 0 at compile time.
/// Follows layout ops, reshards, collectives, pads and selects to constants.
bool isZero(mlir::Value value);

} // namespace pcc::localize

#endif // PCC_PASSES_5_LOCALIZE_LOCALBUILDER_H
