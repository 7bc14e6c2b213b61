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

  /// Builds an i64 vector with the global indices of the elements that this
  /// rank holds along a dim. `dim` is the sharding of the dim. `size` is the
  /// number of elements of the dim on all ranks together. The vector also has
  /// an index for each element of padding. The index of padding is at least
  /// `size`. Example: 4 ranks split a dim of 6 elements, so each rank has space
  /// for 2 elements:
  ///
  ///   rank 0   [0, 1]
  ///   rank 1   [2, 3]
  ///   rank 2   [4, 5]
  ///   rank 3   [6, 7]   both elements are padding
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

/// Returns whether the compiler can prove that all elements of `value` are 0.
/// `value` must be one of these:
///
/// - a constant in which all elements are 0;
/// - the result of an op with one operand that only copies, moves or reduces
///   elements, such as a transpose or a collective, if isZero() is true for the
///   operand;
/// - the result of a select, if isZero() is true for both alternatives;
/// - the result of a pad, if isZero() is true for the padded tensor and for the
///   padding.
bool isZero(mlir::Value value);

} // namespace pcc::localize

#endif // PCC_PASSES_5_LOCALIZE_LOCALBUILDER_H
