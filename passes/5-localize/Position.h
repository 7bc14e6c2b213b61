//===- Position.h - values that depend on which rank computes them --------===//

#ifndef PCC_PASSES_5_LOCALIZE_POSITION_H
#define PCC_PASSES_5_LOCALIZE_POSITION_H

#include "dialects/dist/DistDialect.h"
#include "dialects/graph/GraphDialect.h"
#include "mlir/IR/Builders.h"

namespace pcc::localize {

/// Builds graph ops at one place; everything that it makes gets the stage of
/// the op it is made for.
class PositionBuilder : public mlir::OpBuilder {
public:
  explicit PositionBuilder(mlir::Operation *before);

  template <typename Op, typename... Args> auto make(Args &&...args) {
    auto op = Op::create(*this, location, std::forward<Args>(args)...);
    mark(op);
    return op->getResult(0);
  }

  /// Global indices of the local elements of a dim of `size` that lies like
  /// `dim`: [local] x i64.
  mlir::Value globalIndex(const dist::DimSharding &dim, int64_t size);

  /// `vector`, of one dim, laid along dim `dim` of a tensor of `rank` dims; all
  /// others have size 1.
  mlir::Value along(mlir::Value vector, int64_t dim, int64_t rank);

  /// A scalar tensor.
  mlir::Value scalar(mlir::Type elementType, double value);

  mlir::Value compare(graph::Predicate predicate, mlir::Value lhs,
                      mlir::Value rhs);
  mlir::Value reshape(mlir::Value value, llvm::ArrayRef<int64_t> shape);
  mlir::Value cast(mlir::Value value, mlir::Type elementType);

private:
  void mark(mlir::Operation *op);

  mlir::Location location;
  mlir::Attribute stage;
};

} // namespace pcc::localize

#endif // PCC_PASSES_5_LOCALIZE_POSITION_H
