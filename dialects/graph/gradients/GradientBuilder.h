//===- GradientBuilder.h - builder of the gradient of one op --------------===//

#ifndef PCC_DIALECTS_GRAPH_GRADIENTS_GRADIENTBUILDER_H
#define PCC_DIALECTS_GRAPH_GRADIENTS_GRADIENTBUILDER_H

#include "dialects/graph/TensorBuilder.h"

namespace pcc::graph {

/// Gradients of the loss with respect to a list of values, in the order of the
/// list. An entry is null if the loss does not depend on the value. Failure
/// means that an error has been emitted.
using Gradients = llvm::FailureOr<llvm::SmallVector<mlir::Value>>;

/// Builds the ops that compute the gradients of the operands of one forward op.
/// New ops are inserted in front of a given op and have the location of the
/// forward op.
class GradientBuilder : public TensorBuilder {
public:
  /// Callback that is called for each new op. `made` is the new op. `forward`
  /// is a forward op. The new op helps to compute the gradients of the operands
  /// of `forward`.
  using OnOp =
      llvm::function_ref<void(mlir::Operation *forward, mlir::Operation *made)>;

  /// Predicate on a forward op of attention: true if its gradient is built from
  /// fused ops, false if it is built from matmuls and element-wise ops.
  using StaysWhole = llvm::function_ref<bool(mlir::Operation *forward)>;

  /// Creates a builder for the gradients of the operands of `forward`. New ops
  /// are inserted in front of `before`. `isWanted` returns whether a value
  /// needs a gradient. `onOp` is called for each new op. `onOp` and
  /// `staysWhole` may be null. All callbacks must outlive the builder.
  GradientBuilder(mlir::Operation *forward, mlir::Operation *before,
                  llvm::function_ref<bool(mlir::Value)> isWanted, OnOp onOp,
                  StaysWhole staysWhole)
      : TensorBuilder(before), forward(forward), isWanted(isWanted), onOp(onOp),
        isWhole(staysWhole) {
    location = forward->getLoc();
  }

  /// Returns whether the gradient of `operand`, an operand of the forward op,
  /// is needed.
  bool wants(mlir::Value operand) const { return isWanted(operand); }
  /// Returns whether the gradient of the forward op, an attention op, may be
  /// built from the two fused ops AttentionQueryGradientOp and
  /// AttentionKeyGradientOp. If the function returns false, the gradient is
  /// built from matmuls and element-wise ops. The callback `staysWhole` of the
  /// constructor decides. Without that callback, the function returns false.
  bool staysWhole() const { return isWhole && isWhole(forward); }

  //===--------------------------------------------------------------------===//
  // Arithmetic
  //===--------------------------------------------------------------------===//

  /// Creates an op of type `Op` with the single operand `x`. The result has the
  /// type of `x`.
  template <typename Op> mlir::Value apply(mlir::Value x) {
    return make<Op>(x.getType(), x);
  }
  /// Adds two tensors element by element, with broadcasting. `sub`, `mul` and
  /// `div` are similar. A number as operand gets the element type of the other
  /// operand.
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

  /// Creates a rank-0 constant with the value `number` and the element type of
  /// `value`.
  mlir::Value like(mlir::Value value, double number);
  /// Creates a constant of shape `shape` and of the element type of `value`.
  /// Its elements, in row-major order, are `numbers`.
  mlir::Value table(llvm::ArrayRef<double> numbers,
                    llvm::ArrayRef<int64_t> shape, mlir::Value value);
  /// Creates a tensor of zeros of `type`.
  mlir::Value zeros(mlir::RankedTensorType type);
  /// Creates a boolean tensor that is true at each element where `value` is 0.
  mlir::Value isZero(mlir::Value value);
  /// Selects `onTrue` where the boolean tensor `condition` is true, and
  /// `onFalse` elsewhere. All three operands are broadcast to one shape.
  mlir::Value select(mlir::Value condition, mlir::Value onTrue,
                     mlir::Value onFalse);
  /// Creates a tensor that equals `value` where `condition` is true, and is 0
  /// elsewhere.
  mlir::Value where(mlir::Value condition, mlir::Value value);
  /// Creates a tensor that is 0 where `condition` is true, and equals `value`
  /// elsewhere.
  mlir::Value except(mlir::Value condition, mlir::Value value);

  //===--------------------------------------------------------------------===//
  // Layout: each function returns `value` itself if there is nothing to do
  //===--------------------------------------------------------------------===//

  /// Broadcasts `value` to `shape`.
  mlir::Value broadcast(mlir::Value value, llvm::ArrayRef<int64_t> shape);
  /// Permutes dims: dim i of the result is dim perm[i] of `value`.
  mlir::Value transpose(mlir::Value value, llvm::ArrayRef<int64_t> perm);
  /// Adds `low[i]` elements `fill` at the start of each dim i, and `high[i]` at
  /// the end. A negative number removes elements. `low` {1} and `high` {-2}
  /// turn 5 6 7 8 into 0 5 6.
  mlir::Value pad(mlir::Value value, llvm::ArrayRef<int64_t> low,
                  llvm::ArrayRef<int64_t> high, double fill = 0);
  /// Extracts `size` elements of `value` along dim `dim`, from index `start`
  /// on. `step` is 1 or -1.
  mlir::Value slice(mlir::Value value, int64_t dim, int64_t start, int64_t size,
                    int64_t step = 1);

  //===--------------------------------------------------------------------===//
  // Reductions and casts
  //===--------------------------------------------------------------------===//

  /// Reduces `value` over the dims with the indices `dims`. These dims remain
  /// in the result, with size 1.
  mlir::Value reduce(ReduceKind kind, mlir::Value value,
                     llvm::ArrayRef<int64_t> dims);
  /// Sums `value` over the dims with the indices `dims`. These dims remain in
  /// the result, with size 1.
  mlir::Value sum(mlir::Value value, llvm::ArrayRef<int64_t> dims) {
    return reduce(ReduceKind::Sum, value, dims);
  }
  /// Sums `gradient` over the dims along which the forward op broadcast its
  /// operand `operand`. The result has the shape and element type of `operand`:
  ///   gradient [4, 2, 3], operand [2, 1]:  sum over dims 0 and 2
  mlir::Value sumTo(mlir::Value gradient, mlir::Value operand);

  /// Casts `value` to f32 if its element type is narrower than 32 bits.
  mlir::Value widen(mlir::Value value);
  /// Casts `value` to the element type of the tensor `model`.
  mlir::Value castLike(mlir::Value value, mlir::Value model);

protected:
  /// Passes the new op `made` to the callback `onOp`, if there is one.
  void finish(mlir::Operation *made) override {
    if (onOp)
      onOp(forward, made);
  }

private:
  /// The forward op whose gradient is built.
  mlir::Operation *forward;
  llvm::function_ref<bool(mlir::Value)> isWanted;
  OnOp onOp;
  StaysWhole isWhole;
};

/// Returns the list of operand gradients for an op in which only operand 0 can
/// have a gradient. The list has one entry: `gradient`, the gradient of operand
/// 0. `gradient` may be null, which means that the gradient is 0 everywhere.
/// All other operands, for example integer indices, have no entry in the list.
/// The function differentiate() treats a missing entry as a null entry.
Gradients onlyGradient(mlir::Value gradient);

} // namespace pcc::graph

#endif // PCC_DIALECTS_GRAPH_GRADIENTS_GRADIENTBUILDER_H
