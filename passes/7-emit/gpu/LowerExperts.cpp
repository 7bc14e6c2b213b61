//===- LowerExperts.cpp - rows of experts by counting ---------------------===//

#include "passes/7-emit/gpu/LowerExperts.h"
#include "passes/7-emit/gpu/LowerScans.h"
#include "passes/7-emit/gpu/Pairs.h"

using namespace mlir;
using namespace pcc;
using namespace pcc::emit;
using namespace pcc::graph;

/// Of running counts, [size]: how many are not above each of the positions
/// 0 to `numRows` - 1, [numRows]. It is where the next row comes from.
static Value sourceOfRows(Replacement &b, Value counts, int64_t numRows) {
  Pairs pairs(b, 1);
  Value all = pairs.other(around(b, counts, 0));
  Value isBefore =
      b.compare(Predicate::LessOrEqual, all, pairs.eachPosition(numRows));
  Value sources = pairs.reduce(ReduceKind::Sum, b.countOf(isBefore));
  return b.reshape(sources, {numRows});
}

/// Running counts of a vector, [size].
static Value runningCount(Replacement &b, Value vector) {
  Value sums = runningSum(b, around(b, vector, 0), ScanForm());
  return b.reshape(sums, shapeOf(vector));
}

/// Which experts a token's rows go to, 1 or 0: [tokens, experts].
static Value takenOf(Replacement &b, Value gate, int64_t chosen) {
  Value isZero = b.compare(Predicate::Equal, gate,
                           b.scalar(tensorType(gate).getElementType(), 0));
  Value wants = b.make<SelectOp>(isZero, b.integer(0), b.integer(1));
  if (chosen >= shapeOf(gate)[1])
    return wants;
  Value before = runningSum(b, around(b, wants, 1), {/*exclusive=*/true});
  Value isFree = b.compare(Predicate::Less, b.reshape(before, shapeOf(gate)),
                           b.integer(chosen));
  return b.selectOr(isFree, wants, 0);
}

static void lowerGroupRows(GroupRowsOp op) {
  Replacement b(op);
  const int64_t tokens = shapeOf(op.getGate())[0],
                experts = shapeOf(op.getGate())[1],
                numRows = shapeOf(op.getToken())[0];
  Value taken = takenOf(b, op.getGate(), op.getChosen());
  Value counts = b.reduce(ReduceKind::Sum, taken, {0});
  Value inOrder = b.reshape(b.transpose(taken, {1, 0}), {experts * tokens});
  Value source = sourceOfRows(b, runningCount(b, inOrder), numRows);
  Value isRow = b.compare(Predicate::Less, source, b.integer(experts * tokens));
  source = b.selectOr(isRow, source, 0);
  Value expert = b.make<DivOp>(source, b.integer(tokens));
  Value token = b.make<SubOp>(source, b.make<MulOp>(expert, b.integer(tokens)));
  Value gates =
      b.reshape(b.transpose(op.getGate(), {1, 0}), {experts * tokens});
  Value weight =
      b.selectOr(isRow, b.make<GatherOp>(gates, source, uint64_t(0)), 0);
  b.replaceWith({token, expert, weight, counts});
}

/// [experts, rows, n], of which row r keeps that of its expert; padding has
/// none.
static void lowerGroupedMatmul(GroupedMatmulOp op) {
  Replacement b(op);
  const int64_t experts = shapeOf(op.getMatrices())[0],
                numRows = shapeOf(op.getRows())[0],
                n = shapeOf(op.getResult())[1];
  Value product = b.make<MatmulOp>(
      b.reshape(op.getRows(), {1, numRows, shapeOf(op.getRows())[1]}),
      op.getMatrices(), false, op.getTransposeRhs());
  Value expert = sourceOfRows(
      b, runningCount(b, b.cast(op.getCounts(), b.getI64Type())), numRows);
  Value isRow = b.compare(Predicate::Less, expert, b.integer(experts));
  Value own = b.reshape(b.selectOr(isRow, expert, 0), {1, numRows, 1});
  Value kept = b.make<GatherElementsOp>(
      product, b.broadcast(own, {1, numRows, n}), uint64_t(0));
  b.replaceWith(b.selectOr(b.reshape(isRow, {1, numRows, 1}), kept, 0));
}

int64_t pcc::emit::lowerExperts(func::FuncOp function) {
  return lowerEach(function, lowerGroupRows) +
         lowerEach(function, lowerGroupedMatmul);
}
