//===- ArithmeticBuilder.h - builder of tensor arithmetic -----------------===//
//
// Losses, optimizers and gradient clipping are written as formulas over this
// builder. The ops that it creates are ordinary graph ops, which later phases
// shard and fuse like those of the model.
//
//===----------------------------------------------------------------------===//

#ifndef PCC_PASSES_2_PREPARE_TRAINING_ARITHMETICBUILDER_H
#define PCC_PASSES_2_PREPARE_TRAINING_ARITHMETICBUILDER_H

#include "dialects/graph/TensorBuilder.h"

namespace pcc::prepare {

/// Builds arithmetic on tensors. New ops stand in front of one op, at the
/// builder's location. Operands broadcast as in NumPy and must have one element
/// type; a plain number becomes a scalar of the element type of the tensor that
/// it is combined with.
class ArithmeticBuilder : public graph::TensorBuilder {
public:
  using TensorBuilder::TensorBuilder;
  /// Inserts new ops directly before `before`, with location `loc`.
  ArithmeticBuilder(mlir::Operation *before, mlir::Location loc)
      : TensorBuilder(before) {
    location = loc;
  }

  /// Sets the location of all ops that are created after the call.
  void setLocation(mlir::Location loc) { location = loc; }
  /// Sets a discardable attribute that every op created after the call gets,
  /// such as the weight that an update belongs to. A null `value` ends the
  /// marking. `name` is not copied and must stay alive.
  void setMark(llvm::StringRef name, mlir::Attribute value) {
    markName = name;
    mark = value;
  }

  /// Element-wise operations with broadcasting. `square` is a * a.
  mlir::Value add(mlir::Value a, mlir::Value b) {
    return make<graph::AddOp>(a, b);
  }
  mlir::Value sub(mlir::Value a, mlir::Value b) {
    return make<graph::SubOp>(a, b);
  }
  mlir::Value mul(mlir::Value a, mlir::Value b) {
    return make<graph::MulOp>(a, b);
  }
  mlir::Value div(mlir::Value a, mlir::Value b) {
    return make<graph::DivOp>(a, b);
  }
  mlir::Value sqrt(mlir::Value a) { return make<graph::SqrtOp>(a); }
  mlir::Value square(mlir::Value a) { return mul(a, a); }

  /// Returns a constant of rank 0 with the element type of `value`.
  mlir::Value scalarLike(mlir::Value value, double number) {
    return scalar(graph::tensorType(value).getElementType(), number);
  }
  /// Returns a + number.
  mlir::Value add(mlir::Value a, double number) {
    return add(a, scalarLike(a, number));
  }
  /// Returns a * number.
  mlir::Value mul(mlir::Value a, double number) {
    return mul(a, scalarLike(a, number));
  }
  /// Returns number - a.
  mlir::Value subFrom(double number, mlir::Value a) {
    return sub(scalarLike(a, number), a);
  }
  /// Returns `a` where the boolean tensor `condition` is true and `b`
  /// elsewhere.
  mlir::Value select(mlir::Value condition, mlir::Value a, mlir::Value b) {
    return make<graph::SelectOp>(condition, a, b);
  }

  /// Reduces `value` over `dims`, which remain as dims of size 1 if `keep`.
  mlir::Value reduce(graph::ReduceKind kind, mlir::Value value,
                     llvm::ArrayRef<int64_t> dims, bool keep = false) {
    return make<graph::ReduceOp>(kind, value, dims, keep, mlir::IntegerAttr());
  }
  /// Returns the sum of all elements as a tensor of rank 0.
  mlir::Value sum(mlir::Value value) {
    return reduce(graph::ReduceKind::Sum, value,
                  llvm::to_vector(llvm::seq<int64_t>(
                      0, graph::tensorType(value).getRank())));
  }

protected:
  /// Sets the mark on a new op.
  void finish(mlir::Operation *op) override {
    if (mark)
      op->setAttr(markName, mark);
  }

private:
  /// Name and value of the discardable attribute of new ops; no attribute is
  /// set while `mark` is null.
  llvm::StringRef markName;
  mlir::Attribute mark;
};

} // namespace pcc::prepare

#endif // PCC_PASSES_2_PREPARE_TRAINING_ARITHMETICBUILDER_H
