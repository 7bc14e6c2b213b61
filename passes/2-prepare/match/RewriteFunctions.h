//===- RewriteFunctions.h - rewrites of graph ops as plain functions ------===//
//
// A rewrite is a function from an op to the value that replaces it, or null if
// it does not match. RewritePatternOf makes an MLIR pattern of it:
//
//   static Value dropDoubleNegation(NegOp op, PatternRewriter &) {
//     auto inner = definedBy<NegOp>(op.getInput());
//     return inner ? inner.getInput() : Value();
//   }
//   addRewrites(patterns, dropDoubleNegation);
//
// Rewrites match producers with `definedBy`, which stops at values that a seed
// of the user names (Pins.h).
//
//===----------------------------------------------------------------------===//

#ifndef PCC_PASSES_2_PREPARE_MATCH_REWRITEFUNCTIONS_H
#define PCC_PASSES_2_PREPARE_MATCH_REWRITEFUNCTIONS_H

#include "dialects/graph/GraphDialect.h"
#include "mlir/IR/PatternMatch.h"
#include <optional>

namespace pcc::prepare {

/// Returns a dictionary attribute with the one pair `name` = `value`.
inline mlir::DictionaryAttr onlyAttr(llvm::StringRef name,
                                     mlir::Attribute value) {
  mlir::MLIRContext *context = value.getContext();
  return mlir::DictionaryAttr::get(
      context,
      mlir::NamedAttribute(mlir::StringAttr::get(context, name), value));
}

/// Returns the op that defines `value` if it is an `Op` and has no attribute
/// `graph.pinned`, otherwise null. The attribute marks ops whose sharding the
/// user fixes (--shard), so rewrites must not remove them. Rewrites must
/// therefore use this function to find the ops that define operands.
template <typename Op> Op definedBy(mlir::Value value) {
  auto op = value.getDefiningOp<Op>();
  return op && !op->hasAttr(graph::pinnedName) ? op : Op();
}

/// Returns the shape of `value`, which must be a ranked tensor. The MLIR
/// context owns the returned array, so the array stays valid when `value` is
/// erased.
inline llvm::ArrayRef<int64_t> shapeOf(mlir::Value value) {
  return graph::tensorType(value).getShape();
}

/// Returns the element type of `value`, a ranked tensor.
inline mlir::Type elementTypeOf(mlir::Value value) {
  return graph::tensorType(value).getElementType();
}

/// If all elements of `value` are equal to one number, returns this number: 0
/// or 1 for booleans. `value` must be a constant, or a reshape or broadcast of
/// a constant. Returns nullopt for other values, and if the elements differ.
std::optional<double> uniformValue(mlir::Value value);

/// Returns whether all elements of `value` are equal to `number`. The function
/// knows the elements of a constant, and of a reshape or a broadcast of a
/// constant. For all other values, it returns false.
bool isUniform(mlir::Value value, double number);

/// Creates a constant of rank 0. For an integer type, `number` is truncated
/// toward zero and then wrapped to the type's width.
mlir::Value makeScalar(mlir::OpBuilder &builder, mlir::Location loc,
                       mlir::Type elementType, double number);

/// Tests the operands of a binary op with `accepts`, the right operand first.
/// If `accepts` returns true for one operand, returns the other operand.
/// Returns null if `accepts` returns false for both. Example: if `accepts`
/// returns true for constants, mul(x, 0.5) and mul(0.5, x) give x.
mlir::Value otherOperand(mlir::Operation *op,
                         llvm::function_ref<bool(mlir::Value)> accepts);

/// Replaces `op`, which has one result, by `value`. Moves `graph.name` and
/// `graph.pinned` (the user fixes the sharding) to the op that defines `value`,
/// if this op can take them: it has one result, has no `graph.name`, and is no
/// `graph.get_parameter`. If this op is a constant, both attributes are
/// dropped. Fails, without changes, if the types differ, or if `op` has
/// `graph.pinned` and the op that defines `value` cannot take the attributes.
mlir::LogicalResult replaceNamed(mlir::Operation *op, mlir::Value value,
                                 mlir::RewriterBase &rewriter);

/// Type of a function that rewrites an op of type `Op`. The function returns
/// the value that replaces the result of the op. The value must have the same
/// type as the result. The caller of the function performs the replacement. If
/// the function cannot rewrite the op, it returns null and does not change the
/// IR.
template <typename Op>
using Rewrite = mlir::Value (*)(Op, mlir::PatternRewriter &);

/// MLIR pattern that replaces an op of type `Op` by the value that `rewrite`
/// returns. replaceNamed() keeps the name and the fixed sharding where
/// possible. The pattern does not match if `rewrite` returns null or if
/// replaceNamed() fails.
template <typename Op> struct RewritePatternOf : mlir::OpRewritePattern<Op> {
  RewritePatternOf(mlir::MLIRContext *context, Rewrite<Op> rewrite)
      : mlir::OpRewritePattern<Op>(context), rewrite(rewrite) {}

  mlir::LogicalResult
  matchAndRewrite(Op op, mlir::PatternRewriter &rewriter) const override {
    mlir::Value value = rewrite(op, rewriter);
    return value ? replaceNamed(op, value, rewriter) : mlir::failure();
  }

  /// Rewrite function that the pattern applies; never null.
  Rewrite<Op> rewrite;
};

/// Adds one MLIR pattern to `patterns` for each function in `rewrites`. The
/// pattern has the benefit 1. A function takes an op and returns the value that
/// replaces the op. It returns null if it does not match the op. The pattern
/// performs the replacement.
template <typename... Ops>
void addRewrites(mlir::RewritePatternSet &patterns, Rewrite<Ops>... rewrites) {
  (patterns.add<RewritePatternOf<Ops>>(patterns.getContext(), rewrites), ...);
}

} // namespace pcc::prepare

#endif // PCC_PASSES_2_PREPARE_MATCH_REWRITEFUNCTIONS_H
