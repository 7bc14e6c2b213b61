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

/// Returns a dictionary with the one entry `name` = `value`.
inline mlir::DictionaryAttr onlyAttr(llvm::StringRef name,
                                     mlir::Attribute value) {
  mlir::MLIRContext *context = value.getContext();
  return mlir::DictionaryAttr::get(
      context,
      mlir::NamedAttribute(mlir::StringAttr::get(context, name), value));
}

/// Returns the op that defines `value` if it is an `Op` and is not pinned.
/// Returns null otherwise. The user fixes the sharding of a pinned op, so a
/// rewrite must not remove the op. An example is the rewrite of -(-x) to x.
/// This rewrite removes both negations. If the inner negation is pinned,
/// definedBy() returns null for it, and the rewrite does not match. For this
/// reason, rewrites must always find the op that defines an operand with this
/// function.
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

/// Returns the number that all elements of `value` equal. `value` must be a
/// constant, or a reshape or broadcast of a constant. For booleans the number
/// is 0 or 1. Returns nullopt for other values.
std::optional<double> uniformValue(mlir::Value value);

/// Returns whether all elements of `value` are equal to `number`. The function
/// knows the elements of a constant, and of a reshape or a broadcast of a
/// constant. For all other values, it returns false.
bool isUniform(mlir::Value value, double number);

/// Creates a constant of rank 0. For an integer type, `number` is truncated
/// toward zero and then wrapped to the type's width.
mlir::Value makeScalar(mlir::OpBuilder &builder, mlir::Location loc,
                       mlir::Type elementType, double number);

/// Searches a binary op for an operand for which `accepts` returns true.
/// Returns the other operand of the op. The function tests the right operand
/// first. Returns null if `accepts` returns false for both operands. An example
/// is an `accepts` that returns true for constants:
///
///   op            result
///   mul(x, 0.5)   x
///   mul(0.5, x)   x
///   mul(x, y)     null
mlir::Value otherOperand(mlir::Operation *op,
                         llvm::function_ref<bool(mlir::Value)> accepts);

/// Replaces `op`, which has one result, by `value`. Moves the attributes
/// `graph.name` and `graph.pinned` (the user fixes the sharding) from `op` to
/// the op that defines `value`. If this op is a constant without a name, both
/// attributes are lost.
///
/// A function argument, a parameter, a value with a name, and one of several
/// results cannot take the attributes. The name is then lost, and the function
/// fails if `op` is pinned. The function also fails if the types of `value` and
/// of the result differ. A failed call changes nothing.
mlir::LogicalResult replaceNamed(mlir::Operation *op, mlir::Value value,
                                 mlir::RewriterBase &rewriter);

/// Type of a function that rewrites an op of type `Op`. The function returns
/// the value that replaces the result of the op. The value must have the same
/// type as the result. The caller of the function performs the replacement. If
/// the function cannot rewrite the op, it returns null and does not change the
/// IR.
template <typename Op>
using Rewrite = mlir::Value (*)(Op, mlir::PatternRewriter &);

/// MLIR pattern that calls the function `rewrite` for each op of type `Op`. If
/// `rewrite` returns a value, the pattern calls the function `replaceNamed`,
/// which replaces the op by this value. If `rewrite` returns null or
/// `replaceNamed` fails, the pattern does not match.
///
/// The replaced op can have the attribute `graph.name`, which is its name. It
/// can also have the attribute `graph.pinned`, which says that the user fixes
/// the sharding of the op. In most cases, `replaceNamed` copies both attributes
/// to the op that defines the new value. The comment of `replaceNamed` lists
/// the exceptions.
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
