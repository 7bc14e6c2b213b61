//===- LoweringBuilder.h - builds what an op becomes on a GPU -------------===//

#ifndef PCC_PASSES_7_EMIT_GPU_LOWER_LOWERINGBUILDER_H
#define PCC_PASSES_7_EMIT_GPU_LOWER_LOWERINGBUILDER_H

#include "dialects/graph/TensorBuilder.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace pcc::emit {

/// Builds the ops that one op becomes, in front of it. They belong where it
/// belongs: its location and its discardable attributes are theirs. Positions
/// and counts are i64.
class LoweringBuilder : public graph::TensorBuilder {
public:
  explicit LoweringBuilder(mlir::Operation *op) : TensorBuilder(op), op(op) {}

  /// Whether no result has an element; replaces them by constants then.
  bool replaceEmpty();
  /// Gives the readers of each result a value of its elements, and erases the
  /// op.
  void replaceWith(mlir::ValueRange values);

  mlir::Value integer(int64_t value) {
    return scalar(getI64Type(), static_cast<double>(value));
  }
  /// 0, 1, … along `dim` of a tensor of `rank` dims; the others have size 1.
  mlir::Value positions(int64_t size, int64_t dim, int64_t rank);
  mlir::Value reduce(graph::ReduceKind kind, mlir::Value value,
                     llvm::ArrayRef<int64_t> dims);
  /// `value` where `condition` holds, else `number`.
  mlir::Value selectOr(mlir::Value condition, mlir::Value value, double number);
  /// 1 where `condition` holds, else 0.
  mlir::Value indicatorOf(mlir::Value condition);
  mlir::Value transpose(mlir::Value value, llvm::ArrayRef<int64_t> perm);
  mlir::Value broadcast(mlir::Value value, llvm::ArrayRef<int64_t> shape);
  /// Constant padding by `number`; negative counts cut.
  mlir::Value pad(mlir::Value value, llvm::ArrayRef<int64_t> low,
                  llvm::ArrayRef<int64_t> high, double number);

private:
  void finish(mlir::Operation *made) override {
    made->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  }

  mlir::Operation *op;
};

/// The type that elements are added up in: f32 for narrower floats.
mlir::Type sumType(mlir::Type element);

inline llvm::ArrayRef<int64_t> shapeOf(mlir::Value value) {
  return graph::tensorType(value).getShape();
}

/// Calls `lower`, which may erase it, with every `Op` of the function that
/// gives something; returns how many `Op` there were.
template <typename Op>
int64_t lowerEach(mlir::func::FuncOp function, void (*lower)(Op)) {
  llvm::SmallVector<Op> ops(function.getOps<Op>());
  for (Op op : ops)
    if (!LoweringBuilder(op).replaceEmpty())
      lower(op);
  return static_cast<int64_t>(ops.size());
}

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_GPU_LOWER_LOWERINGBUILDER_H
