//===- LocalBuilder.h - builder of rank-dependent index values ------------===//

#ifndef PCC_PASSES_5_LOCALIZE_LOCALBUILDER_H
#define PCC_PASSES_5_LOCALIZE_LOCALBUILDER_H

#include "dialects/dist/DistDialect.h"
#include "dialects/graph/TensorBuilder.h"

namespace pcc::localize {

/// Builds graph ops before a given op. The new ops get the location and the
/// `pipe.stage` of the given op. Their values may depend on the mesh
/// coordinates of the rank that executes them, such as the offset of a shard or
/// the mask of its padding.
class LocalBuilder : public graph::TensorBuilder {
public:
  /// Creates a builder that inserts new ops directly before the op `before`.
  explicit LocalBuilder(mlir::Operation *before);

  /// Builds a `dist.global_index`, whose result is the global indices of this
  /// rank's elements of a dim. The dim has the global size `size` and the
  /// sharding `dim`. The result is an i64 vector of the dim's local size.
  /// Padding elements have indices of at least `size`.
  ///
  ///   size 6 on 4 ranks, rank 2: [4, 5]; rank 3: only padding, both at least 6
  mlir::Value globalIndex(const dist::DimSharding &dim, int64_t size);

  /// Reshapes `vector`, which has one dim, to rank `rank`: dim `dim` gets the
  /// size of `vector`, all other dims have size 1. The result broadcasts along
  /// these.
  mlir::Value along(mlir::Value vector, int64_t dim, int64_t rank);

protected:
  /// Sets `pipe.stage` on the new op `op` to `stage`, the stage of the op
  /// before which it is built. Does nothing if `stage` is null.
  void finish(mlir::Operation *op) override;

private:
  /// `pipe.stage` of the op before which new ops are built; new ops get it,
  /// too. Null if that op has no stage.
  mlir::Attribute stage;
};

/// Returns whether all elements of `value` are known to be 0 at compile time.
/// Follows broadcasts, pads and selects backwards to constants.
bool isZero(mlir::Value value);

} // namespace pcc::localize

#endif // PCC_PASSES_5_LOCALIZE_LOCALBUILDER_H
