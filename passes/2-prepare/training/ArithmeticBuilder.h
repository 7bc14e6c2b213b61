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

/// Builder of tensor ops, such as add(a, b), which it inserts before one op of
/// the graph. The operands are broadcast as in NumPy and must have equal
/// element types. A C++ number as an operand becomes a scalar constant.
class ArithmeticBuilder : public graph::TensorBuilder {
public:
  using TensorBuilder::TensorBuilder;
  /// Creates a builder that inserts new ops directly before the op `before`,
  /// with the location `loc`.
  ArithmeticBuilder(mlir::Operation *before, mlir::Location loc)
      : TensorBuilder(before) {
    location = loc;
  }

  /// Sets the location of all ops that are created after the call.
  void setLocation(mlir::Location loc) { location = loc; }
  /// Chooses a discardable attribute that the builder sets on every op that it
  /// creates after this call. `name` and `value` are the name and the value of
  /// the attribute. An example is `graph.updates` = @w on ops that update the
  /// weight w. If `value` is null, the builder sets no attribute. The text of
  /// `name` is not copied and must stay alive.
  void setMark(llvm::StringRef name, mlir::Attribute value) {
    markName = name;
    mark = value;
  }

  /// Builds the element-wise op a + b. sub, mul, div, sqrt and square below
  /// build other element-wise ops. Operands broadcast as in NumPy.
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

  /// Creates a scalar constant `number` with the element type of `value`.
  mlir::Value scalarLike(mlir::Value value, double number) {
    return scalar(graph::tensorType(value).getElementType(), number);
  }
  /// Builds a + number.
  mlir::Value add(mlir::Value a, double number) {
    return add(a, scalarLike(a, number));
  }
  /// Builds a * number.
  mlir::Value mul(mlir::Value a, double number) {
    return mul(a, scalarLike(a, number));
  }
  /// Builds number - a.
  mlir::Value subFrom(double number, mlir::Value a) {
    return sub(scalarLike(a, number), a);
  }
  /// Builds a select: `a` where the boolean tensor `condition` is true, `b`
  /// elsewhere.
  mlir::Value select(mlir::Value condition, mlir::Value a, mlir::Value b) {
    return make<graph::SelectOp>(condition, a, b);
  }

  /// Builds a reduction of `value` over `dims`. If `keep` is true, these dims
  /// stay with size 1; otherwise they are removed.
  mlir::Value reduce(graph::ReduceKind kind, mlir::Value value,
                     llvm::ArrayRef<int64_t> dims, bool keep = false) {
    return make<graph::ReduceOp>(kind, value, dims, keep, mlir::IntegerAttr());
  }
  /// Builds the sum of all elements of `value`. The sum is a tensor of rank 0.
  mlir::Value sum(mlir::Value value) {
    return reduce(graph::ReduceKind::Sum, value,
                  llvm::to_vector(llvm::seq<int64_t>(
                      0, graph::tensorType(value).getRank())));
  }

protected:
  /// Sets an attribute on the new op `op`. The caller of the builder chooses
  /// the name and the value of the attribute with setMark(). If the caller has
  /// not chosen an attribute, the function does nothing.
  void finish(mlir::Operation *op) override {
    if (mark)
      op->setAttr(markName, mark);
  }

private:
  /// Attribute that the builder sets on each new op: `markName` is its name,
  /// and `mark` is its value. setMark() chooses both. If `mark` is null, new
  /// ops get no attribute.
  llvm::StringRef markName;
  mlir::Attribute mark;
};

} // namespace pcc::prepare

#endif // PCC_PASSES_2_PREPARE_TRAINING_ARITHMETICBUILDER_H
