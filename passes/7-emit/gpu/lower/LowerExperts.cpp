//===- LowerExperts.cpp - mixture-of-experts ops as matmuls and gathers ---===//

#include "passes/7-emit/gpu/lower/LowerExperts.h"
#include "passes/7-emit/gpu/lower/AllPairs.h"
#include "passes/7-emit/gpu/lower/LowerScans.h"

using namespace mlir;
using namespace pcc;
using namespace pcc::emit;
using namespace pcc::graph;

/// Returns one number per row: the index of the source to which the row
/// belongs. There are `numRows` rows, and a source is a group of rows, for
/// example the rows of one expert. The rows of source 0 come first, then the
/// rows of source 1, and so on. `counts` holds the prefix sums of the numbers
/// of rows: element i is the number of rows of sources 0 to i together. Rows
/// after the last source get the number of sources. Example: sources 0, 1 and 2
/// have 2, 0 and 3 rows, and `numRows` is 6. The last row belongs to no source,
/// so it gets 3:
///
///   rows per source    2 0 3
///   counts             2 2 5
///   result             0 0 2 2 2 3
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

/// Returns a tensor of shape [tokens, experts]. The element of a token and an
/// expert is 1 if the token is sent to the expert, else 0.
///
/// `gate` has the shape [tokens, experts], too. `gate` holds the weight of each
/// pair of a token and an expert. A token is sent to all experts for which the
/// weight is not 0. If there are more than `chosen` experts with such a weight,
/// the token is sent only to those `chosen` experts that have the smallest
/// indices. Example for one token, 4 experts and `chosen` = 2:
///
///   weights   0.5   0   0.3   0.2
///   result      1   0     1     0
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
/// which the token is sent to the expert. The list is sorted by expert, then by
/// token. A matrix [experts, tokens] holds 1 for each pair of the list, else 0.
/// The list has the pairs in the row-major order of the matrix. The position of
/// a pair in the list is therefore the number of ones before the pair in the
/// matrix, which is a prefix sum. Example: for 2 experts and 3 tokens, the rows
/// of the matrix are 1 0 1 and 0 1 1. The list is (0, 0), (2, 0), (1, 1),
/// (2, 1).
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
/// Builds the ops that replace one graph.grouped_matmul. This op has a matrix
/// of input rows, and one matrix per expert. It multiplies each input row with
/// the matrix of the expert of the row. The rows of expert 0 come first, then
/// the rows of expert 1, and so on. All rows after the rows of the last expert
/// are padding. The result of a padding row is 0. Example: expert 0 has 2 rows,
/// and expert 1 has 1 row. Rows 0 and 1 are multiplied with matrix 0. Row 2 is
/// multiplied with matrix 1. All other rows are padding.
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

  /// Returns the product of each input row with the matrix of the expert of the
  /// row. The result has the shape [rows, n], where n is the number of columns
  /// of a product. A tile is a matrix of 128 rows that belong to one expert.
  /// There are three steps:
  ///
  ///   1. Copy the input rows of each expert into tiles.
  ///   2. Multiply each tile with the matrix of its expert.
  ///   3. Copy the product of each input row from the tiles into the result.
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

  /// Returns a tensor [tiles, 128]. A tile is a matrix with copies of up to 128
  /// input rows of one expert. Element (t, k) of the tensor is the index of the
  /// input row that tile t holds as its row k. For an empty row of a tile, the
  /// element is the index of an arbitrary input row. `owner` holds the expert
  /// of each tile. `tileStarts` holds the first tile of each expert. Example:
  /// expert 0 has the input rows 0 to 199, and expert 1 has the input rows 200
  /// to 299. Tile 0 holds rows 0 to 127, tile 1 holds rows 128 to 199, and tile
  /// 2 holds rows 200 to 299.
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
  /// Tensors that describe the experts and the input rows. The input rows are
  /// sorted by expert. All rows after the rows of the last expert are padding.
  ///
  ///   field    shape       element
  ///   counts   [experts]   number of rows of the expert
  ///   starts   [experts]   index of the first row of the expert
  ///   ends     [experts]   index after the last row of the expert
  ///   isRow    [rows]      true if the row belongs to an expert, else false
  ///   expert   [rows]      index of the expert of the row, 0 for padding
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
