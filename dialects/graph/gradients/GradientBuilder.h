//===- GradientBuilder.h - builds the gradient of one op ------------------===//

#ifndef PCC_DIALECTS_GRAPH_GRADIENTS_GRADIENTBUILDER_H
#define PCC_DIALECTS_GRAPH_GRADIENTS_GRADIENTBUILDER_H

#include "dialects/graph/TensorBuilder.h"

namespace pcc::graph {

/// The gradients of the operands of one op: one per operand, null where none
/// flows. On failure an error was emitted at the op.
using Gradients = llvm::FailureOr<llvm::SmallVector<mlir::Value>>;

/// Builds ops of the backward pass in front of `before`, at the location of the
/// op whose gradient they are. Numbers that meet a tensor have its element
/// type.
class GradientBuilder : public TensorBuilder {
public:
  /// Is told each op that is made for the gradient of `forward`.
  using OnOp =
      llvm::function_ref<void(mlir::Operation *forward, mlir::Operation *made)>;

  /// Whether the gradient of an op is to stay in one piece or two rather than
  /// become products and sums.
  using StaysWhole = llvm::function_ref<bool(mlir::Operation *forward)>;

  /// `isWanted` says for a value whether anybody asks for its gradient.
  GradientBuilder(mlir::Operation *forward, mlir::Operation *before,
                  llvm::function_ref<bool(mlir::Value)> isWanted, OnOp onOp,
                  StaysWhole staysWhole)
      : TensorBuilder(before), forward(forward), isWanted(isWanted), onOp(onOp),
        isWhole(staysWhole) {
    location = forward->getLoc();
  }

  /// Whether the gradient of `operand` is asked for.
  bool wants(mlir::Value operand) const { return isWanted(operand); }
  bool staysWhole() const { return isWhole && isWhole(forward); }

  /// An op whose result has the type of `x`, its one operand.
  template <typename Op> mlir::Value apply(mlir::Value x) {
    return make<Op>(x.getType(), x);
  }
  mlir::Value add(mlir::Value a, mlir::Value b) { return make<AddOp>(a, b); }
  mlir::Value sub(mlir::Value a, mlir::Value b) { return make<SubOp>(a, b); }
  mlir::Value mul(mlir::Value a, mlir::Value b) { return make<MulOp>(a, b); }
  mlir::Value div(mlir::Value a, mlir::Value b) { return make<DivOp>(a, b); }
  mlir::Value neg(mlir::Value a) { return apply<NegOp>(a); }
  mlir::Value square(mlir::Value a) { return mul(a, a); }
  mlir::Value add(mlir::Value a, double b) { return add(a, like(a, b)); }
  mlir::Value sub(double a, mlir::Value b) { return sub(like(b, a), b); }
  mlir::Value mul(mlir::Value a, double b) { return mul(a, like(a, b)); }
  mlir::Value div(mlir::Value a, double b) { return div(a, like(a, b)); }

  /// A scalar of the element type of `value`.
  mlir::Value like(mlir::Value value, double number);
  /// A constant of the element type of `value`.
  mlir::Value table(llvm::ArrayRef<double> numbers,
                    llvm::ArrayRef<int64_t> shape, mlir::Value value);
  mlir::Value zeros(mlir::RankedTensorType type);
  mlir::Value isZero(mlir::Value value);
  mlir::Value select(mlir::Value condition, mlir::Value onTrue,
                     mlir::Value onFalse);
  /// `value` where the condition holds, else 0.
  mlir::Value where(mlir::Value condition, mlir::Value value);
  /// 0 where the condition holds, else `value`.
  mlir::Value except(mlir::Value condition, mlir::Value value);

  mlir::Value broadcast(mlir::Value value, llvm::ArrayRef<int64_t> shape);
  mlir::Value transpose(mlir::Value value, llvm::ArrayRef<int64_t> perm);
  /// Pads with `fill`; negative counts cut.
  mlir::Value pad(mlir::Value value, llvm::ArrayRef<int64_t> low,
                  llvm::ArrayRef<int64_t> high, double fill = 0);
  /// The part [start, start + size) of a dim; `step` is 1 or -1.
  mlir::Value slice(mlir::Value value, int64_t dim, int64_t start, int64_t size,
                    int64_t step = 1);

  /// Reduced dims stay with size 1.
  mlir::Value reduce(ReduceKind kind, mlir::Value value,
                     llvm::ArrayRef<int64_t> dims);
  mlir::Value sum(mlir::Value value, llvm::ArrayRef<int64_t> dims) {
    return reduce(ReduceKind::Sum, value, dims);
  }
  /// The gradient of what was broadcast to the shape of `gradient`: the sum
  /// over what was repeated, in the shape and element type of `operand`.
  mlir::Value sumTo(mlir::Value gradient, mlir::Value operand);

  /// In f32 where the element type is narrower.
  mlir::Value widen(mlir::Value value);
  /// In the element type of `model`.
  mlir::Value castLike(mlir::Value value, mlir::Value model);

protected:
  void finish(mlir::Operation *made) override {
    if (onOp)
      onOp(forward, made);
  }

private:
  mlir::Operation *forward;
  llvm::function_ref<bool(mlir::Value)> isWanted;
  OnOp onOp;
  StaysWhole isWhole;
};

/// The gradient of the only operand, if it is one that can have any.
Gradients onlyGradient(mlir::Value gradient);

} // namespace pcc::graph

#endif // PCC_DIALECTS_GRAPH_GRADIENTS_GRADIENTBUILDER_H
