//===- LocalBuilder.h - values that depend on which rank computes them ----===//

#ifndef PCC_PASSES_5_LOCALIZE_LOCALBUILDER_H
#define PCC_PASSES_5_LOCALIZE_LOCALBUILDER_H

#include "dialects/dist/DistDialect.h"
#include "dialects/graph/TensorBuilder.h"

namespace pcc::localize {

/// Builds graph ops at one place; everything that it makes gets the stage of
/// the op it is made for.
class LocalBuilder : public graph::TensorBuilder {
public:
  explicit LocalBuilder(mlir::Operation *before);

  /// Global indices of the local elements of a dim of `size` that lies like
  /// `dim`: [local] x i64.
  mlir::Value globalIndex(const dist::DimSharding &dim, int64_t size);

  /// `vector`, of one dim, laid along dim `dim` of a tensor of `rank` dims; all
  /// others have size 1.
  mlir::Value along(mlir::Value vector, int64_t dim, int64_t rank);

protected:
  void finish(mlir::Operation *op) override;

private:
  mlir::Attribute stage;
};

/// Whether all elements of `value` are known to be 0.
bool isZero(mlir::Value value);

} // namespace pcc::localize

#endif // PCC_PASSES_5_LOCALIZE_LOCALBUILDER_H
