//===- CompositeSoftmax.cpp - softmax from exponentials -------------------===//
//
//   e = exp(x − max(x));  e / sum(e)               softmax
//   z = x − max(x);       z − log(sum(exp(z)))     log_softmax
//
// Without the maximum it is another function of large inputs.
//
//===----------------------------------------------------------------------===//

#include "passes/2-prepare/composites/Composites.h"
#include "passes/2-prepare/match/RewriteFunctions.h"

using namespace mlir;
using namespace pcc::graph;
using namespace pcc::prepare;

/// The dim over which `value` reduces `of`, keeping it; none if it does not.
static std::optional<int64_t> reducedDim(Value value, ReduceKind kind,
                                         Value of) {
  auto reduce = definedBy<ReduceOp>(value);
  if (!reduce || reduce.getKind() != kind || !reduce.getKeep() ||
      reduce.getInput() != of || reduce.getDims().size() != 1)
    return {};
  return reduce.getDims().front();
}

/// x of `value` = x − max(x) over `dim`; null if it is something else.
static Value withoutMaximum(Value value, int64_t dim) {
  auto sub = definedBy<SubOp>(value);
  return sub && reducedDim(sub.getRhs(), ReduceKind::Max, sub.getLhs()) == dim
             ? sub.getLhs()
             : Value();
}

static Value makeSoftmax(Operation *op, Value exponential, Value sum,
                         PatternRewriter &rewriter) {
  auto dim = reducedDim(sum, ReduceKind::Sum, exponential);
  auto exp = definedBy<ExpOp>(exponential);
  Value x = dim && exp ? withoutMaximum(exp.getInput(), *dim) : Value();
  return x ? SoftmaxOp::create(rewriter, op->getLoc(), x, *dim) : Value();
}

static Value divided(DivOp op, PatternRewriter &rewriter) {
  return makeSoftmax(op, op.getLhs(), op.getRhs(), rewriter);
}

static Value multiplied(MulOp op, PatternRewriter &rewriter) {
  for (auto [exponential, inverse] : {std::pair(op.getLhs(), op.getRhs()),
                                      std::pair(op.getRhs(), op.getLhs())})
    if (auto reciprocal = definedBy<ReciprocalOp>(inverse))
      if (Value softmax =
              makeSoftmax(op, exponential, reciprocal.getInput(), rewriter))
        return softmax;
  return {};
}

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
