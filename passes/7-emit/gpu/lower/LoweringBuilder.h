//===- LoweringBuilder.h - builder of the ops that replace one op ---------===//

#ifndef PCC_PASSES_7_EMIT_GPU_LOWER_LOWERINGBUILDER_H
#define PCC_PASSES_7_EMIT_GPU_LOWER_LOWERINGBUILDER_H

#include "dialects/graph/TensorBuilder.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace pcc::emit {

/// Builds the ops that replace one op, directly before that op. New ops get the
/// location and the discardable attributes of the replaced op, such as the
/// pipeline stage. Tensors of indices and counts have element type i64.
class LoweringBuilder : public graph::TensorBuilder {
public:
  explicit LoweringBuilder(mlir::Operation *op) : TensorBuilder(op), op(op) {}

  /// Checks whether all results of the op have no elements. If so, replaces the
  /// op by empty constants, erases it, and returns true. Otherwise changes
  /// nothing and returns false.
  bool replaceEmpty();
  /// Replaces each result i of the op for which this builder was created by
  /// `values[i]`, reshaped to the shape of the result. Then erases the op. The
  /// builder must not be used to create ops afterwards.
  void replaceWith(mlir::ValueRange values);

  /// Creates a scalar constant of type i64.
  mlir::Value integer(int64_t value) {
    return scalar(getI64Type(), static_cast<double>(value));
  }
  /// Creates an i64 tensor with `rank` dims that holds the numbers 0 to `size`
  /// - 1 along dim `dim`. All other dims have size 1.
  mlir::Value positions(int64_t size, int64_t dim, int64_t rank);
  /// Creates a reduction of `value` over the dims `dims`. The result does not
  /// have these dims.
  mlir::Value reduce(graph::ReduceKind kind, mlir::Value value,
                     llvm::ArrayRef<int64_t> dims);
  /// Creates a tensor that has the elements of `value` where `condition` is
  /// true, and `number` elsewhere.
  mlir::Value selectOr(mlir::Value condition, mlir::Value value, double number);
  /// Creates an i64 tensor that is 1 where the boolean tensor `condition` is
  /// true, and 0 elsewhere.
  mlir::Value indicatorOf(mlir::Value condition);
  /// Creates a transpose. Dim i of the result is dim `perm[i]` of `value`.
  mlir::Value transpose(mlir::Value value, llvm::ArrayRef<int64_t> perm);
  /// Creates a broadcast of `value` to `shape`.
  mlir::Value broadcast(mlir::Value value, llvm::ArrayRef<int64_t> shape);
  /// Pads dim i of `value` by `low[i]` elements before its first element and
  /// `high[i]` elements after its last element. The new elements have the value
  /// `number`. Negative counts crop. Returns `value` itself if all counts are
  /// 0.
  mlir::Value pad(mlir::Value value, llvm::ArrayRef<int64_t> low,
                  llvm::ArrayRef<int64_t> high, double number);

private:
  /// Copies to `made`, an op that this builder created, the discardable
  /// attributes of the op that it replaces. Leaves out attributes that only
  /// describe the replaced op.
  void finish(mlir::Operation *made) override;

  /// The op that the new ops will replace.
  mlir::Operation *op;
};

/// Returns the type in which elements of type `element` are summed: f32 for
/// bf16 and f16, otherwise `element` itself.
mlir::Type sumType(mlir::Type element);

/// Returns the shape of `value`, a tensor.
inline llvm::ArrayRef<int64_t> shapeOf(mlir::Value value) {
  return graph::tensorType(value).getShape();
}

/// Calls `lower`, which replaces an op, for every op of class `Op` of
/// `function`. If no result of an op has elements, replaces the op by empty
/// constants instead. Returns the number of replaced ops.
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
