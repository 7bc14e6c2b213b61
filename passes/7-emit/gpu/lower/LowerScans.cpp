//===- LowerScans.cpp - prefix sums as reductions -------------------------===//

#include "passes/7-emit/gpu/lower/LowerScans.h"
#include "passes/7-emit/gpu/lower/AllPairs.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>

using namespace mlir;
using namespace pcc;
using namespace pcc::emit;
using namespace pcc::graph;

/// Largest size of a dim along which sumOfPairs() computes prefix sums.
/// sumOfBlocks() divides a larger dim into blocks.
static constexpr int64_t longest = 256;

/// Returns the prefix sums along the middle dim of `value`. Computes each sum
/// as a reduction over the whole dim, in which elements that do not belong to
/// the sum count as 0.
static Value sumOfPairs(LoweringBuilder &b, Value value, ScanForm form) {
  const int64_t size = shapeOf(value)[1];
  AllPairs pairs(b, shapeOf(value)[2]);
  Value at = pairs.eachPosition(size), from = pairs.otherPosition(size);
  if (form.reverse)
    std::swap(at, from);
  Value counts = b.compare(
      form.exclusive ? Predicate::Less : Predicate::LessOrEqual, from, at);
  return pairs.reduce(ReduceKind::Sum,
                      b.selectOr(counts, pairs.other(value), 0));
}

/// Returns the prefix sums along the middle dim of `value`. Divides this dim,
/// of `size` elements, into blocks of about √size elements. Each result is the
/// sum of two terms:
///
///   - the prefix sum within its block
///   - the sum of all elements of the preceding blocks
static Value sumOfBlocks(LoweringBuilder &b, Value value, ScanForm form) {
  const int64_t outer = shapeOf(value)[0], size = shapeOf(value)[1],
                inner = shapeOf(value)[2];
  const auto block = static_cast<int64_t>(std::ceil(std::sqrt(size)));
  const int64_t numBlocks = llvm::divideCeil(size, block);
  Value whole = b.pad(value, {0, 0, 0}, {0, numBlocks * block - size, 0}, 0);
  Value blocks = b.reshape(whole, {outer * numBlocks, block, inner});
  Value totals = b.reshape(b.reduce(ReduceKind::Sum, blocks, {1}),
                           {outer, numBlocks, inner});
  Value before = runningSum(b, totals, {/*exclusive=*/true, form.reverse});
  Value sums = b.make<AddOp>(
      b.reshape(runningSum(b, blocks, form), {outer, numBlocks, block, inner}),
      b.reshape(before, {outer, numBlocks, 1, inner}));
  return b.pad(b.reshape(sums, {outer, numBlocks * block, inner}), {0, 0, 0},
               {0, size - numBlocks * block, 0}, 0);
}

Value pcc::emit::runningSum(LoweringBuilder &b, Value value, ScanForm form) {
  return shapeOf(value)[1] > longest ? sumOfBlocks(b, value, form)
                                     : sumOfPairs(b, value, form);
}

/// Replaces one graph.cumsum.
static void lowerCumSum(CumSumOp op) {
  LoweringBuilder b(op);
  Type element = tensorType(op.getInput()).getElementType();
  Value value = b.cast(around(b, op.getInput(), op.getDim()), sumType(element));
  Value sums = runningSum(b, value, {op.getExclusive(), op.getReverse()});
  b.replaceWith(b.cast(sums, element));
}

int64_t pcc::emit::lowerScans(func::FuncOp function) {
  return lowerEach(function, lowerCumSum);
}
