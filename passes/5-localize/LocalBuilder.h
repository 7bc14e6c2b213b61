//===- LocalBuilder.h - builder of rank-dependent index values ------------===//

#ifndef PCC_PASSES_5_LOCALIZE_LOCALBUILDER_H
#define PCC_PASSES_5_LOCALIZE_LOCALBUILDER_H

#include "dialects/dist/DistDialect.h"
#include "dialects/graph/TensorBuilder.h"

namespace pcc::localize {

/// Builder that inserts graph ops before a given op. Each new op gets the
/// location and the pipeline stage of the given op. A pass uses this builder
/// while it converts the program to local shapes (shapes of one rank's shard).
/// The builder can build a tensor that differs between ranks, such as the
/// global indices of the elements in the rank's shard.
class LocalBuilder : public graph::TensorBuilder {
public:
  /// Creates a builder that inserts new ops directly before the op `before`.
  explicit LocalBuilder(mlir::Operation *before);

  /// Builds an i64 vector with the global indices of a rank's elements along a
  /// dim. `dim` is the sharding of the dim, and `size` the global number of
  /// elements. Indices of padding are at least `size`.
  mlir::Value globalIndex(const dist::DimSharding &dim, int64_t size);

  /// Reshapes `vector`, which has one dim, for broadcasting to a tensor with
  /// `rank` dims. The elements lie along dim `dim`; all other dims have size 1.
  /// For example, 5 elements get the shape [1, 5, 1] for dim 1 and rank 3.
  mlir::Value along(mlir::Value vector, int64_t dim, int64_t rank);

protected:
  /// Sets the attribute `pipe.stage` (the pipeline stage) of the new op `op`.
  /// The new op gets the stage of the op before which the builder inserts new
  /// ops. Does nothing if that op has no stage.
  void finish(mlir::Operation *op) override;

private:
  /// The `pipe.stage` of all new ops; null if there is none.
  mlir::Attribute stage;
};

/// Returns whether all elements of `value` are provably 0. Recognizes zero
/// constants, and layout ops, reshards, collectives, selects and pads of zeros.
bool isZero(mlir::Value value);

} // namespace pcc::localize

#endif // PCC_PASSES_5_LOCALIZE_LOCALBUILDER_H
