//===- LowerExperts.cpp - rows of experts by counting ---------------------===//

#include "passes/7-emit/gpu/lower/LowerExperts.h"
#include "passes/7-emit/gpu/lower/AllPairs.h"
#include "passes/7-emit/gpu/lower/LowerScans.h"

using namespace mlir;
using namespace pcc;
using namespace pcc::emit;
using namespace pcc::graph;

/// Of running counts, [size]: how many are not above each of the positions
/// 0 to `numRows` - 1, [numRows]. It is where the next row comes from.
static Value sourceOfRows(LoweringBuilder &b, Value counts, int64_t numRows) {
  AllPairs pairs(b, 1);
  Value all = pairs.other(around(b, counts, 0));
  Value isBefore =
      b.compare(Predicate::LessOrEqual, all, pairs.eachPosition(numRows));
  Value sources = pairs.reduce(ReduceKind::Sum, b.indicatorOf(isBefore));
  return b.reshape(sources, {numRows});
}

/// Running counts of a vector, [size].
static Value runningCount(LoweringBuilder &b, Value vector) {
  Value sums = runningSum(b, around(b, vector, 0), ScanForm());
  return b.reshape(sums, shapeOf(vector));
}

/// Which experts a token's rows go to, 1 or 0: [tokens, experts].
static Value takenOf(LoweringBuilder &b, Value gate, int64_t chosen) {
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
  LoweringBuilder b(op);
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

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

namespace {
/// The rows of each expert lie behind one another.
class RowsByExpert {
public:
  explicit RowsByExpert(GroupedMatmulOp op)
      : b(op), op(op), numExperts(shapeOf(op.getMatrices())[0]),
        numRows(shapeOf(op.getRows())[0]), n(shapeOf(op.getResult())[1]),
        counts(b.cast(op.getCounts(), b.getI64Type())),
        ends(runningCount(b, counts)), starts(b.make<SubOp>(ends, counts)) {
    Value found = sourceOfRows(b, ends, numRows);
    isRow = b.compare(Predicate::Less, found, b.integer(numExperts));
    expert = b.selectOr(isRow, found, 0);
  }

  void replace() {
    const int64_t depth = shapeOf(op.getRows())[1];
    const bool isTiled = numTiles() * (tile + depth) < numExperts * numRows;
    Value products = isTiled ? productsOfTiles() : productsOfAll();
    b.replaceWith(b.selectOr(b.reshape(isRow, {numRows, 1}), products, 0));
  }

private:
  static constexpr int64_t tile = 128;

  /// An expert's last tile may be almost empty.
  int64_t numTiles() const { return numRows / tile + numExperts; }

  Value at(Value vector, Value index) {
    return b.make<GatherOp>(vector, index, uint64_t(0));
  }

  Value product(Value rows, Value matrices) {
    return b.make<MatmulOp>(rows, matrices, /*transpose_lhs=*/false,
                            op.getTransposeRhs());
  }

  /// [experts, rows, n], of which each row keeps that of its expert.
  Value productsOfAll() {
    Value rows =
        b.reshape(op.getRows(), {1, numRows, shapeOf(op.getRows())[1]});
    Value own =
        b.broadcast(b.reshape(expert, {1, numRows, 1}), {1, numRows, n});
    return b.reshape(b.make<GatherElementsOp>(product(rows, op.getMatrices()),
                                              own, uint64_t(0)),
                     {numRows, n});
  }

  /// [tiles, tile, n]: an expert's rows fill tiles of their own, which have a
  /// copy of its matrix. What else lies in a tile is nobody's.
  Value productsOfTiles() {
    Value size = b.integer(tile);
    Value tiles =
        b.make<DivOp>(b.make<AddOp>(counts, b.integer(tile - 1)), size);
    Value tileEnds = runningCount(b, tiles);
    Value tileStarts = b.make<SubOp>(tileEnds, tiles);
    Value owner = b.make<MinOp>(sourceOfRows(b, tileEnds, numTiles()),
                                b.integer(numExperts - 1));
    Value rows = at(op.getRows(), rowsOfTiles(owner, tileStarts));
    Value made = product(rows, at(op.getMatrices(), owner));
    Value local = b.make<SubOp>(b.positions(numRows, 0, 1), at(starts, expert));
    Value place =
        b.make<AddOp>(b.make<MulOp>(at(tileStarts, expert), size), local);
    // Padding may be further behind than the tiles are.
    place = b.selectOr(isRow, place, 0);
    return at(b.reshape(made, {numTiles() * tile, n}), place);
  }

  /// [tiles, tile]: the rows of each tile of `owner`.
  Value rowsOfTiles(Value owner, Value tileStarts) {
    Value number =
        b.make<SubOp>(b.positions(numTiles(), 0, 1), at(tileStarts, owner));
    Value first = b.make<AddOp>(at(starts, owner),
                                b.make<MulOp>(number, b.integer(tile)));
    Value row = b.make<AddOp>(b.reshape(first, {numTiles(), 1}),
                              b.positions(tile, 1, 2));
    // Tiles that nobody has.
    return b.make<MaxOp>(b.make<MinOp>(row, b.integer(numRows - 1)),
                         b.integer(0));
  }

  LoweringBuilder b;
  GroupedMatmulOp op;
  int64_t numExperts, numRows, n;
  Value counts, ends, starts, isRow, expert;
};
} // namespace

static void lowerGroupedMatmul(GroupedMatmulOp op) {
  RowsByExpert(op).replace();
}

int64_t pcc::emit::lowerExperts(func::FuncOp function) {
  return lowerEach(function, lowerGroupRows) +
         lowerEach(function, lowerGroupedMatmul);
}
