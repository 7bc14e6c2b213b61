//===- LoweringBuilder.h - builder of the ops that replace one op ---------===//

#ifndef PCC_PASSES_7_EMIT_GPU_LOWER_LOWERINGBUILDER_H
#define PCC_PASSES_7_EMIT_GPU_LOWER_LOWERINGBUILDER_H

#include "dialects/graph/TensorBuilder.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace pcc::emit {

/// Builds the ops that replace one op, directly in front of it. New ops get the
/// location and the discardable attributes, such as the pipeline stage, of the
/// replaced op. Tensors of positions and counts have element type i64.
class LoweringBuilder : public graph::TensorBuilder {
public:
  explicit LoweringBuilder(mlir::Operation *op) : TensorBuilder(op), op(op) {}

  /// If no result of the op has an element, replaces the results by empty
  /// constants, erases the op and returns true. Otherwise does nothing and
  /// returns false.
  bool replaceEmpty();
  /// Replaces result i by `values[i]`, reshaped to the shape of the result, and
  /// erases the op. The builder must not create ops afterwards.
  void replaceWith(mlir::ValueRange values);

  /// Builds an i64 constant of rank 0.
  mlir::Value integer(int64_t value) {
    return scalar(getI64Type(), static_cast<double>(value));
  }
  /// Builds an i64 tensor of rank `rank` that holds the numbers 0 to `size` - 1
  /// along dim `dim`. All other dims have size 1.
  mlir::Value positions(int64_t size, int64_t dim, int64_t rank);
  /// Builds a reduction over `dims`. The result lacks these dims.
  mlir::Value reduce(graph::ReduceKind kind, mlir::Value value,
                     llvm::ArrayRef<int64_t> dims);
  /// Builds a select: `value` where `condition` is true, else `number`.
  mlir::Value selectOr(mlir::Value condition, mlir::Value value, double number);
  /// Converts a boolean tensor to i64: 1 for true, 0 for false.
  mlir::Value indicatorOf(mlir::Value condition);
  /// Builds the transpose whose dim i is dim `perm[i]` of `value`.
  mlir::Value transpose(mlir::Value value, llvm::ArrayRef<int64_t> perm);
  /// Broadcasts `value` to `shape`.
  mlir::Value broadcast(mlir::Value value, llvm::ArrayRef<int64_t> shape);
  /// Pads dim i of `value` by `low[i]` elements in front and `high[i]` elements
  /// behind, which have the value `number`. Negative counts crop. Returns
  /// `value` itself if all counts are 0.
  mlir::Value pad(mlir::Value value, llvm::ArrayRef<int64_t> low,
                  llvm::ArrayRef<int64_t> high, double number);

private:
  /// Copies the discardable attributes of the replaced op.
  void finish(mlir::Operation *made) override {
    made->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  }

  /// Op that is replaced.
  mlir::Operation *op;
};

/// Returns the element type of an accumulator for sums of `element`: f32 for
/// narrower floats, otherwise `element` itself.
mlir::Type sumType(mlir::Type element);

/// Returns the shape of a tensor.
inline llvm::ArrayRef<int64_t> shapeOf(mlir::Value value) {
  return graph::tensorType(value).getShape();
}

/// Calls `lower` for every op of type `Op` of `function`. `lower` may erase the
/// op. Ops whose results are all empty become constants instead. Returns the
/// number of ops of type `Op`.
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
