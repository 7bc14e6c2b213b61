//===- LowerExperts.cpp - mixture-of-experts ops as matmuls and gathers ---===//

#include "passes/7-emit/gpu/lower/LowerExperts.h"
#include "passes/7-emit/gpu/lower/AllPairs.h"
#include "passes/7-emit/gpu/lower/LowerScans.h"

using namespace mlir;
using namespace pcc;
using namespace pcc::emit;
using namespace pcc::graph;

/// Returns the index of the source of each of `numRows` rows. A source is a
/// group of consecutive rows, and `counts` holds the prefix sums of the group
/// sizes. Rows after the last source get the number of sources. Example:
/// `counts` = [2, 2, 5] gives [0, 0, 2, 2, 2, 3] for 6 rows.
static Value sourceOfRows(LoweringBuilder &b, Value counts, int64_t numRows) {
  AllPairs pairs(b, 1);
  Value all = pairs.other(around(b, counts, 0));
  Value isBefore =
      b.compare(Predicate::LessOrEqual, all, pairs.eachPosition(numRows));
  Value sources = pairs.reduce(ReduceKind::Sum, b.indicatorOf(isBefore));
  return b.reshape(sources, {numRows});
}

/// Returns the inclusive prefix sums of `vector`: [2, 0, 3] gives [2, 2, 5].
static Value runningCount(LoweringBuilder &b, Value vector) {
  Value sums = runningSum(b, around(b, vector, 0), ScanForm());
  return b.reshape(sums, shapeOf(vector));
}

/// Returns a tensor [tokens, experts] with 1 if the token is sent to the
/// expert, else 0. A token is sent to the first `chosen` experts with a nonzero
/// weight. `gate` holds the weights, with the shape [tokens, experts].
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

/// Replaces one graph.group_rows. This op lists all (token, expert) pairs in
/// which the token is sent to the expert, sorted by expert, then by token.
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
/// Builds the ops that replace one graph.grouped_matmul. This op multiplies
/// each input row with the matrix of its expert. The rows are sorted by expert.
/// Rows after the last expert's rows are padding, and have the result 0.
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
  /// Number of rows of a tile. All rows of a tile belong to one expert.
  static constexpr int64_t tile = 128;

  /// Returns an upper bound of the number of tiles. A tile has space for 128
  /// input rows. All rows of a tile belong to one expert. Tiles are full or not
  /// full. The number of full tiles is at most numRows / 128, rounded down.
  /// Each expert has at most one tile that is not full, its last one. Example:
  /// for 300 rows and 2 experts, the function returns 2 + 2 = 4.
  int64_t numTiles() const { return numRows / tile + numExperts; }

  /// Returns a gather from `vector` along its first dim: the elements at the
  /// indices in the tensor `index`.
  Value at(Value vector, Value index) {
    return b.make<GatherOp>(vector, index, uint64_t(0));
  }

  Value product(Value rows, Value matrices) {
    return b.make<MatmulOp>(rows, matrices, /*transpose_lhs=*/false,
                            op.getTransposeRhs());
  }

  /// Returns the product of each input row with the matrix of the expert of the
  /// row. The result has the shape [rows, n], where n is the number of columns
  /// of a product. First multiplies every row with the matrices of all experts.
  /// These products have the shape [experts, rows, n]. Then selects, for each
  /// row, the product with the matrix of the expert of the row.
  Value productsOfAll() {
    Value rows =
        b.reshape(op.getRows(), {1, numRows, shapeOf(op.getRows())[1]});
    Value own =
        b.broadcast(b.reshape(expert, {1, numRows, 1}), {1, numRows, n});
    return b.reshape(b.make<GatherElementsOp>(product(rows, op.getMatrices()),
                                              own, uint64_t(0)),
                     {numRows, n});
  }

  /// Returns the product of each input row with the matrix of its expert, as
  /// [rows, n]. Copies the rows to tiles of 128 rows of one expert, multiplies
  /// each tile, and copies the products back.
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
    // `made` holds one product per row of a tile. `place` holds one index per
    // input row. The index is the position, in `made`, of the product of the
    // input row. An input row that belongs to no expert (a padding row) is not
    // in a tile, so it has no product. `isRow` is false for a padding row. Set
    // the index of each padding row to 0, so that the gather reads a valid
    // position. replace() later sets the result of each padding row to 0.
    place = b.selectOr(isRow, place, 0);
    return at(b.reshape(made, {numTiles() * tile, n}), place);
  }

  /// Returns a tensor [tiles, 128] with the input row that each row of each
  /// tile copies. All rows of a tile belong to one expert. Empty rows of a tile
  /// get the index of any input row. `owner` holds the expert of each tile, and
  /// `tileStarts` the first tile of each expert.
  Value rowsOfTiles(Value owner, Value tileStarts) {
    Value number =
        b.make<SubOp>(b.positions(numTiles(), 0, 1), at(tileStarts, owner));
    Value first = b.make<AddOp>(at(starts, owner),
                                b.make<MulOp>(number, b.integer(tile)));
    Value row = b.make<AddOp>(b.reshape(first, {numTiles(), 1}),
                              b.positions(tile, 1, 2));
    // `row` holds 128 consecutive row indices per tile. The last tile of an
    // expert can have less than 128 rows. For the empty rows of the tile, the
    // indices in `row` can be too large. Example: there are 300 input rows, and
    // the last tile begins at input row 200. Its indices are 200 to 327. Clamp
    // all indices to the range from 0 to `numRows` − 1, so that the gather from
    // the input rows is valid.
    return b.make<MaxOp>(b.make<MinOp>(row, b.integer(numRows - 1)),
                         b.integer(0));
  }

  LoweringBuilder b;
  GroupedMatmulOp op;
  int64_t numExperts, numRows, n;
  /// `counts`, `starts` and `ends` have the shape [experts]. Expert e has
  /// counts[e] input rows, the rows with the indices [starts[e], ends[e]).
  /// `isRow` and `expert` have the shape [rows]. `isRow` is false for padding
  /// rows, which belong to no expert. `expert` is the expert of each input row,
  /// and 0 for padding rows.
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
