//===- RewriteFunctions.h - what rewrites of graph ops are made of --------===//
//
// A rewrite is a function from an op to the value that replaces it, or null.
// What it reads through, it asks for by `definedBy`, which stops at values that
// the user has named in a seed.
//
//===----------------------------------------------------------------------===//

#ifndef PCC_PASSES_2_PREPARE_MATCH_REWRITEFUNCTIONS_H
#define PCC_PASSES_2_PREPARE_MATCH_REWRITEFUNCTIONS_H

#include "dialects/graph/GraphDialect.h"
#include "mlir/IR/PatternMatch.h"
#include <optional>

namespace pcc::prepare {

/// On an op whose value a seed names, while a pass of this phase runs.
inline constexpr llvm::StringLiteral pinnedName = "graph.pinned";
inline constexpr llvm::StringLiteral nameName = "graph.name";

/// Attributes that are but one.
inline mlir::DictionaryAttr onlyAttr(llvm::StringRef name,
                                     mlir::Attribute value) {
  mlir::MLIRContext *context = value.getContext();
  return mlir::DictionaryAttr::get(
      context,
      mlir::NamedAttribute(mlir::StringAttr::get(context, name), value));
}

/// The op of type Op that makes `value`; null if another one does or if the
/// value is pinned.
template <typename Op> Op definedBy(mlir::Value value) {
  auto op = value.getDefiningOp<Op>();
  return op && !op->hasAttr(pinnedName) ? op : Op();
}

inline llvm::ArrayRef<int64_t> shapeOf(mlir::Value value) {
  return graph::tensorType(value).getShape();
}

inline mlir::Type elementTypeOf(mlir::Value value) {
  return graph::tensorType(value).getElementType();
}

/// The number that all elements of `value` are known to equal: of a splat
/// constant, or of one under reshapes and broadcasts.
std::optional<double> uniformValue(mlir::Value value);

/// Whether all elements of `value` are known to equal `number`.
bool isUniform(mlir::Value value, double number);

/// A scalar constant of `elementType`.
mlir::Value makeScalar(mlir::OpBuilder &builder, mlir::Location loc,
                       mlir::Type elementType, double number);

/// The other operand of a binary op one of whose operands satisfies `accepts`;
/// null if none does.
mlir::Value otherOperand(mlir::Operation *op,
                         llvm::function_ref<bool(mlir::Value)> accepts);

/// Replaces `op` by `value`, which takes its name (and pin) if it has none.
/// Fails, without a change, if that would lose a pinned name.
mlir::LogicalResult replaceNamed(mlir::Operation *op, mlir::Value value,
                                 mlir::RewriterBase &rewriter);

/// See the head of this file.
template <typename Op>
using Rewrite = mlir::Value (*)(Op, mlir::PatternRewriter &);

template <typename Op> struct RewritePatternOf : mlir::OpRewritePattern<Op> {
  RewritePatternOf(mlir::MLIRContext *context, Rewrite<Op> rewrite)
      : mlir::OpRewritePattern<Op>(context), rewrite(rewrite) {}

  mlir::LogicalResult
  matchAndRewrite(Op op, mlir::PatternRewriter &rewriter) const override {
    mlir::Value value = rewrite(op, rewriter);
    return value ? replaceNamed(op, value, rewriter) : mlir::failure();
  }

  Rewrite<Op> rewrite;
};

template <typename... Ops>
void addRewrites(mlir::RewritePatternSet &patterns, Rewrite<Ops>... rewrites) {
  (patterns.add<RewritePatternOf<Ops>>(patterns.getContext(), rewrites), ...);
}

} // namespace pcc::prepare

#endif // PCC_PASSES_2_PREPARE_MATCH_REWRITEFUNCTIONS_H
