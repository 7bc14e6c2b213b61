//===- ArithmeticBuilder.h - builds losses and updates --------------------===//

#ifndef PCC_PASSES_2_PREPARE_TRAINING_ARITHMETICBUILDER_H
#define PCC_PASSES_2_PREPARE_TRAINING_ARITHMETICBUILDER_H

#include "dialects/graph/TensorBuilder.h"

namespace pcc::prepare {

/// Arithmetic on tensors, in front of one op. Operands broadcast; a number
/// takes the element type of what it meets.
class ArithmeticBuilder : public graph::TensorBuilder {
public:
  using TensorBuilder::TensorBuilder;
  ArithmeticBuilder(mlir::Operation *before, mlir::Location loc)
      : TensorBuilder(before) {
    location = loc;
  }

  /// Of new ops from here on.
  void setLocation(mlir::Location loc) { location = loc; }
  /// Given to new ops from here on; nothing ends that.
  void setMark(llvm::StringRef name, mlir::Attribute value) {
    markName = name;
    mark = value;
  }

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

  /// A scalar of the element type of `value`.
  mlir::Value scalarLike(mlir::Value value, double number) {
    return scalar(graph::tensorType(value).getElementType(), number);
  }
  mlir::Value add(mlir::Value a, double number) {
    return add(a, scalarLike(a, number));
  }
  mlir::Value mul(mlir::Value a, double number) {
    return mul(a, scalarLike(a, number));
  }
  /// number - a
  mlir::Value subFrom(double number, mlir::Value a) {
    return sub(scalarLike(a, number), a);
  }
  mlir::Value select(mlir::Value condition, mlir::Value a, mlir::Value b) {
    return make<graph::SelectOp>(condition, a, b);
  }

  mlir::Value reduce(graph::ReduceKind kind, mlir::Value value,
                     llvm::ArrayRef<int64_t> dims, bool keep = false) {
    return make<graph::ReduceOp>(kind, value, dims, keep, mlir::IntegerAttr());
  }
  /// The sum of all elements, as a scalar.
  mlir::Value sum(mlir::Value value) {
    return reduce(graph::ReduceKind::Sum, value,
                  llvm::to_vector(llvm::seq<int64_t>(
                      0, graph::tensorType(value).getRank())));
  }

protected:
  void finish(mlir::Operation *op) override {
    if (mark)
      op->setAttr(markName, mark);
  }

private:
  llvm::StringRef markName;
  mlir::Attribute mark;
};

} // namespace pcc::prepare

#endif // PCC_PASSES_2_PREPARE_TRAINING_ARITHMETICBUILDER_H
