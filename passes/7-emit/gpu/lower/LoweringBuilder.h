//===- LoweringBuilder.h - builder of the ops that replace one op ---------===//

#ifndef PCC_PASSES_7_EMIT_GPU_LOWER_LOWERINGBUILDER_H
#define PCC_PASSES_7_EMIT_GPU_LOWER_LOWERINGBUILDER_H

#include "dialects/graph/TensorBuilder.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace pcc::emit {

/// Builds ops that replace one op, the old op. Inserts each new op directly
/// before the old op. Each new op gets the location of the old op. Each new op
/// also gets the discardable attributes of the old op, such as the pipeline
/// stage. finish() leaves out attributes that do not fit the new op. All
/// tensors of indices or counts have the element type i64.
class LoweringBuilder : public graph::TensorBuilder {
public:
  explicit LoweringBuilder(mlir::Operation *op) : TensorBuilder(op), op(op) {}

  /// Checks whether the results of the op that this builder replaces have
  /// elements. If no result has elements, the function replaces each result by
  /// an empty constant, erases the op, and returns true. Otherwise, it changes
  /// nothing and returns false.
  bool replaceEmpty();
  /// Replaces result i of the old op (the op that this builder replaces) by
  /// `values[i]`, reshaped to the shape of the result. Erases the old op. The
  /// builder must not create ops afterwards.
  void replaceWith(mlir::ValueRange values);

  /// Creates a scalar constant of type i64.
  mlir::Value integer(int64_t value) {
    return scalar(getI64Type(), static_cast<double>(value));
  }
  /// Creates an i64 tensor with `rank` dims that holds 0 to `size` − 1 along
  /// dim `dim`. All other dims have size 1.
  mlir::Value positions(int64_t size, int64_t dim, int64_t rank);
  /// Creates a reduction of `value` over `dims`, which the result does not
  /// have.
  mlir::Value reduce(graph::ReduceKind kind, mlir::Value value,
                     llvm::ArrayRef<int64_t> dims);
  /// Creates a tensor with the elements of `value` where `condition` is true,
  /// and `number` elsewhere.
  mlir::Value selectOr(mlir::Value condition, mlir::Value value, double number);
  /// Creates an i64 tensor: 1 where `condition` is true, else 0.
  mlir::Value indicatorOf(mlir::Value condition);
  /// Creates a transpose. Dim i of the result is dim `perm[i]` of `value`.
  mlir::Value transpose(mlir::Value value, llvm::ArrayRef<int64_t> perm);
  /// Creates a broadcast of `value` to `shape`.
  mlir::Value broadcast(mlir::Value value, llvm::ArrayRef<int64_t> shape);
  /// Pads dim i of `value` by `low[i]` elements in front and `high[i]` elements
  /// at the end, with the value `number`. Negative counts crop. Returns `value`
  /// itself if all counts are 0.
  mlir::Value pad(mlir::Value value, llvm::ArrayRef<int64_t> low,
                  llvm::ArrayRef<int64_t> high, double number);

private:
  /// Copies the discardable attributes of the replaced op to the new op `made`.
  /// Leaves out attributes that do not fit `made`. Example: shardings do not
  /// fit results with another number of dims.
  void finish(mlir::Operation *made) override;

  /// The op that the new ops will replace.
  mlir::Operation *op;
};

/// Returns the type in which elements are summed: f32 for bf16 and f16,
/// otherwise `element` itself.
mlir::Type sumType(mlir::Type element);

/// Returns the shape of `value`, a tensor.
inline llvm::ArrayRef<int64_t> shapeOf(mlir::Value value) {
  return graph::tensorType(value).getShape();
}

/// Calls `lower`, which replaces an op, for every op of class `Op` of
/// `function`. Ops whose results have no elements become empty constants
/// instead. Returns the number of replaced ops.
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
