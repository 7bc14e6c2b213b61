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

/// Returns the op that defines `value` if it is an `Op` and is not pinned; null
/// otherwise. A pinned op has a sharding that the user fixes. Rewrites must
/// find defining ops only through this function, so that they keep pinned
/// values.
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

/// Returns whether every element of `value` is known to equal `number`.
bool isUniform(mlir::Value value, double number);

/// Creates a constant of rank 0. For an integer type, `number` is truncated
/// toward zero and then wrapped to the type's width.
mlir::Value makeScalar(mlir::OpBuilder &builder, mlir::Location loc,
                       mlir::Type elementType, double number);

/// Returns an operand of a binary op if `accepts` is true for the other
/// operand. Prefers the left operand. Returns null if `accepts` is true for
/// neither.
///
///   mul x, 0.5   accepts(v) = v is a constant   ->   x
mlir::Value otherOperand(mlir::Operation *op,
                         llvm::function_ref<bool(mlir::Value)> accepts);

/// Replaces `op`, which has one result, by `value`. The name of `op` is its
/// attribute `graph.name`. The pin of `op` is its attribute `graph.pinned`,
/// which says that the user fixes the sharding of the op. There are three kinds
/// of `value`:
///
///  - The result of a constant without a name. The name and the pin of `op` are
///    lost.
///  - A function argument, a parameter of the model, the result of an op with
///    a name, or one of several results of an op. The name of `op` is lost. If
///    `op` has a pin, the function fails.
///  - The result of any other op. This op gets the name and the pin of `op`.
///
/// The function also fails if `value` and the result of `op` have different
/// types. If the function fails, it changes nothing.
mlir::LogicalResult replaceNamed(mlir::Operation *op, mlir::Value value,
                                 mlir::RewriterBase &rewriter);

/// A rewrite function for ops of type `Op`. It returns the value that replaces
/// the op, of the same type. If the op does not match, it returns null and has
/// not changed the IR.
template <typename Op>
using Rewrite = mlir::Value (*)(Op, mlir::PatternRewriter &);

/// MLIR pattern that calls the function `rewrite` for each op of type `Op`. If
/// `rewrite` returns a value, the pattern replaces the op by this value. If
/// `rewrite` returns null, the pattern does not match. The function
/// `replaceNamed` performs the replacement. It can give the name and the pin of
/// the replaced op to the op that defines the new value. The name is the
/// attribute `graph.name`. The pin is the attribute `graph.pinned`, which says
/// that the user fixes the sharding of the op.
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

/// Adds one pattern, of benefit 1, for each function in `rewrites`.
template <typename... Ops>
void addRewrites(mlir::RewritePatternSet &patterns, Rewrite<Ops>... rewrites) {
  (patterns.add<RewritePatternOf<Ops>>(patterns.getContext(), rewrites), ...);
}

} // namespace pcc::prepare

#endif // PCC_PASSES_2_PREPARE_MATCH_REWRITEFUNCTIONS_H
