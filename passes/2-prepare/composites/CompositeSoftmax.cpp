//===- CompositeSoftmax.cpp - softmax from exponentials -------------------===//
//
//   e = exp(x − max(x));  e / sum(e)               softmax
//   z = x − max(x);       z − log(sum(exp(z)))     log_softmax
//
// The maximum must be subtracted. Without it the exponentials of large inputs
// overflow, and the model computes another function.
//
//===----------------------------------------------------------------------===//

#include "passes/2-prepare/composites/Composites.h"
#include "passes/2-prepare/match/RewriteFunctions.h"

using namespace mlir;
using namespace pcc::graph;
using namespace pcc::prepare;

/// Returns the dim over which a reduction computes `value` from the tensor
/// `of`. The reduction must be over one dim, and the dim must stay in the
/// result with size 1. `kind` is the kind of the reduction, such as Max. An
/// example: `of` has the shape [2, 3], and `value` is its maximum over dim 1,
/// of shape [2, 1]. Then the function returns 1. Returns nullopt if no such
/// reduction computes `value`.
static std::optional<int64_t> reducedDim(Value value, ReduceKind kind,
                                         Value of) {
  auto reduce = definedBy<ReduceOp>(value);
  if (!reduce || reduce.getKind() != kind || !reduce.getKeep() ||
      reduce.getInput() != of || reduce.getDims().size() != 1)
    return {};
  return reduce.getDims().front();
}

/// If `value` is x − max(x), with the maximum over `dim`, returns x. Returns
/// null otherwise.
static Value withoutMaximum(Value value, int64_t dim) {
  auto sub = definedBy<SubOp>(value);
  return sub && reducedDim(sub.getRhs(), ReduceKind::Max, sub.getLhs()) == dim
             ? sub.getLhs()
             : Value();
}

/// Creates the softmax that replaces `op` = `exponential` / `sum`.
/// `exponential` must be exp(x − max(x)), and `sum` must be the sum of
/// `exponential`. Maximum and sum must be over the same single dim. Returns
/// null for other operands.
static Value makeSoftmax(Operation *op, Value exponential, Value sum,
                         PatternRewriter &rewriter) {
  auto dim = reducedDim(sum, ReduceKind::Sum, exponential);
  auto exp = definedBy<ExpOp>(exponential);
  Value x = dim && exp ? withoutMaximum(exp.getInput(), *dim) : Value();
  return x ? SoftmaxOp::create(rewriter, op->getLoc(), x, *dim) : Value();
}

/// Replaces the quotient e / sum(e), where e = exp(x − max(x)), by a softmax.
/// Returns null for any other quotient.
static Value divided(DivOp op, PatternRewriter &rewriter) {
  return makeSoftmax(op, op.getLhs(), op.getRhs(), rewriter);
}

/// Replaces the product e · (1 / sum(e)), where e = exp(x − max(x)), by a
/// softmax. The two operands may have either order. Returns null for any other
/// product.
static Value multiplied(MulOp op, PatternRewriter &rewriter) {
  for (auto [exponential, inverse] : {std::pair(op.getLhs(), op.getRhs()),
                                      std::pair(op.getRhs(), op.getLhs())})
    if (auto reciprocal = definedBy<ReciprocalOp>(inverse))
      if (Value softmax =
              makeSoftmax(op, exponential, reciprocal.getInput(), rewriter))
        return softmax;
  return {};
}

/// Replaces z − log(sum(exp(z))) by a log_softmax, where z = x − max(x).
/// Returns null for any other difference.
static Value logarithm(SubOp op, PatternRewriter &rewriter) {
  auto log = definedBy<LogOp>(op.getRhs());
  auto sum = log ? definedBy<ReduceOp>(log.getInput()) : ReduceOp();
  auto exp = sum ? definedBy<ExpOp>(sum.getInput()) : ExpOp();
  if (!exp || exp.getInput() != op.getLhs())
    return {};
  auto dim = reducedDim(sum.getResult(), ReduceKind::Sum, exp.getResult());
  Value x = dim ? withoutMaximum(op.getLhs(), *dim) : Value();
  return x ? LogSoftmaxOp::create(rewriter, op.getLoc(), x, *dim) : Value();
}

void pcc::prepare::addSoftmaxPatterns(RewritePatternSet &patterns) {
  addRewrites(patterns, divided, multiplied, logarithm);
}
