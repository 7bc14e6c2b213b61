//===- TensorBuilder.h - builds graph ops at one place --------------------===//

#ifndef PCC_DIALECTS_GRAPH_TENSORBUILDER_H
#define PCC_DIALECTS_GRAPH_TENSORBUILDER_H

#include "dialects/graph/GraphDialect.h"
#include "mlir/IR/Builders.h"

namespace pcc::graph {

/// Builds graph ops in front of one op, at its location. What each of them has
/// to know besides is for `finish` to say.
class TensorBuilder : public mlir::OpBuilder {
public:
  explicit TensorBuilder(mlir::Operation *before)
      : OpBuilder(before), location(before->getLoc()) {}
  virtual ~TensorBuilder() = default;

  template <typename Op, typename... Args> Op makeOp(Args &&...args) {
    auto op = Op::create(*this, location, std::forward<Args>(args)...);
    finish(op);
    return op;
  }
  /// The first result of a new op.
  template <typename Op, typename... Args> mlir::Value make(Args &&...args) {
    return makeOp<Op>(std::forward<Args>(args)...)->getResult(0);
  }

  /// A scalar tensor.
  mlir::Value scalar(mlir::Type elementType, double value);
  mlir::Value compare(Predicate predicate, mlir::Value lhs, mlir::Value rhs);
  mlir::Value reshape(mlir::Value value, llvm::ArrayRef<int64_t> shape);
  mlir::Value cast(mlir::Value value, mlir::Type elementType);

protected:
  virtual void finish(mlir::Operation *op) = 0;

  mlir::Location location;
};

} // namespace pcc::graph

#endif // PCC_DIALECTS_GRAPH_TENSORBUILDER_H
