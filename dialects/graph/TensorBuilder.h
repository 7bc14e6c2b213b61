//===- TensorBuilder.h - base class of builders of graph ops --------------===//

#ifndef PCC_DIALECTS_GRAPH_TENSORBUILDER_H
#define PCC_DIALECTS_GRAPH_TENSORBUILDER_H

#include "dialects/graph/GraphDialect.h"
#include "mlir/IR/Builders.h"

namespace pcc::graph {

/// Builds graph ops directly before a given op, with the location of that op.
/// Subclasses override finish() to complete each new op, for example with a
/// pipeline stage and shardings.
class TensorBuilder : public mlir::OpBuilder {
public:
  /// Inserts new ops directly before `before`.
  explicit TensorBuilder(mlir::Operation *before)
      : OpBuilder(before), location(before->getLoc()) {}
  virtual ~TensorBuilder() = default;

  /// Creates an op of type `Op` at the insertion point of the builder and
  /// returns the op. `args` are the arguments of Op::build. The function passes
  /// the op to the virtual function finish(). A subclass overrides finish() to
  /// add attributes to each new op.
  template <typename Op, typename... Args> Op makeOp(Args &&...args) {
    auto op = Op::create(*this, location, std::forward<Args>(args)...);
    finish(op);
    return op;
  }
  /// Creates an op of type `Op` with makeOp(), and returns the op's first
  /// result. `args` are the arguments of Op::build.
  template <typename Op, typename... Args> mlir::Value make(Args &&...args) {
    return makeOp<Op>(std::forward<Args>(args)...)->getResult(0);
  }

  /// Creates a constant tensor of rank 0 that holds `value`.
  mlir::Value scalar(mlir::Type elementType, double value);
  /// Creates an op that compares `lhs` with `rhs`, element by element, with
  /// broadcasting. `lhs` and `rhs` must have one element type. The result is a
  /// boolean tensor.
  mlir::Value compare(Predicate predicate, mlir::Value lhs, mlir::Value rhs);
  /// Reshapes `value` to `shape`; returns `value` itself if it has that shape.
  mlir::Value reshape(mlir::Value value, llvm::ArrayRef<int64_t> shape);
  /// Casts `value` to `elementType`; returns `value` itself if it has that
  /// type.
  mlir::Value cast(mlir::Value value, mlir::Type elementType);

protected:
  /// Adds attributes to the new op `op`, such as a pipeline stage or shardings.
  /// makeOp() calls this function once for each op that it creates.
  virtual void finish(mlir::Operation *op) = 0;

  /// Location of all new ops.
  mlir::Location location;
};

} // namespace pcc::graph

#endif // PCC_DIALECTS_GRAPH_TENSORBUILDER_H
