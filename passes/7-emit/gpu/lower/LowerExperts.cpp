//===- LowerExperts.cpp - mixture-of-experts ops as matmuls and gathers ---===//

#include "passes/7-emit/gpu/lower/LowerExperts.h"
#include "passes/7-emit/gpu/lower/AllPairs.h"
#include "passes/7-emit/gpu/lower/LowerScans.h"

using namespace mlir;
using namespace pcc;
using namespace pcc::emit;
using namespace pcc::graph;

/// Returns the source of each row r in [0, numRows). Sources are numbered, and
/// their rows are contiguous. `counts`, [size], holds the inclusive prefix sums
/// of the numbers of rows of the sources. Example: sources 0, 1 and 2 have 2, 0
/// and 3 rows:
///
///   counts [2, 2, 5]  ->  rows 0 to 5 have the sources 0 0 2 2 2 3
///
/// Row 5 follows the rows of all sources, so its result is `size`. The source
/// of row r is the first index at which `counts` is larger than r.
static Value sourceOfRows(LoweringBuilder &b, Value counts, int64_t numRows) {
  AllPairs pairs(b, 1);
  Value all = pairs.other(around(b, counts, 0));
  Value isBefore =
      b.compare(Predicate::LessOrEqual, all, pairs.eachPosition(numRows));
  Value sources = pairs.reduce(ReduceKind::Sum, b.indicatorOf(isBefore));
  return b.reshape(sources, {numRows});
}

/// Returns the inclusive prefix sums of `vector`, [size]: [2, 0, 3] gives [2,
/// 2, 5].
static Value runningCount(LoweringBuilder &b, Value vector) {
  Value sums = runningSum(b, around(b, vector, 0), ScanForm());
  return b.reshape(sums, shapeOf(vector));
}

/// Returns, for each (token, expert) pair, 1 if the token is sent to the
/// expert, else 0: [tokens, experts]. A token is sent to the experts whose gate
/// (weight of the expert for the token) is not 0, but only to the first
/// `chosen` of them.
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

/// Replaces one graph.group_rows, which lists the (token, expert) pairs sorted
/// by expert. No sort is needed, because the elements of the transposed matrix
/// of pairs, [experts, tokens], are already sorted by expert. The pair of
/// expert e and token t has the number e · tokens + t.
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
/// Replaces one graph.grouped_matmul, which multiplies each row with the matrix
/// of the row's expert. The rows of each expert are contiguous. Rows after
/// those of the last expert are padding, for which the result is 0.
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

  /// Returns an upper bound of the number of tiles. Counts the tiles that rows
  /// fill completely, and one partly filled tile per expert.
  int64_t numTiles() const { return numRows / tile + numExperts; }

  /// Gathers along the first dim of `vector`: returns its elements at the
  /// indices `index`.
  Value at(Value vector, Value index) {
    return b.make<GatherOp>(vector, index, uint64_t(0));
  }

  Value product(Value rows, Value matrices) {
    return b.make<MatmulOp>(rows, matrices, /*transpose_lhs=*/false,
                            op.getTransposeRhs());
  }

  /// Returns the product of each row with the matrix of its expert, [rows, n].
  /// Multiplies all rows with the matrices of all experts, [experts, rows, n],
  /// and selects for each row the product with the matrix of its expert.
  Value productsOfAll() {
    Value rows =
        b.reshape(op.getRows(), {1, numRows, shapeOf(op.getRows())[1]});
    Value own =
        b.broadcast(b.reshape(expert, {1, numRows, 1}), {1, numRows, n});
    return b.reshape(b.make<GatherElementsOp>(product(rows, op.getMatrices()),
                                              own, uint64_t(0)),
                     {numRows, n});
  }

  /// Returns the product of each row with the matrix of its expert, [rows, n].
  /// Copies the rows into tiles such that no tile has rows of two experts.
  /// Multiplies each tile with the matrix of its expert, [tiles, tile, n], and
  /// gathers the products of the rows. Unused rows of a tile hold copies of
  /// some row, whose products are not gathered.
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
    // A padding row is in no tile. Let it read the product at index 0, which
    // always exists; replace() sets its result to 0.
    place = b.selectOr(isRow, place, 0);
    return at(b.reshape(made, {numTiles() * tile, n}), place);
  }

  /// Returns a table of row indices, [tiles, tile]: the input row to copy to
  /// each row of each tile. `owner` is the expert of each tile, and
  /// `tileStarts` the index of the first tile of each expert.
  Value rowsOfTiles(Value owner, Value tileStarts) {
    Value number =
        b.make<SubOp>(b.positions(numTiles(), 0, 1), at(tileStarts, owner));
    Value first = b.make<AddOp>(at(starts, owner),
                                b.make<MulOp>(number, b.integer(tile)));
    Value row = b.make<AddOp>(b.reshape(first, {numTiles(), 1}),
                              b.positions(tile, 1, 2));
    // Unused rows of a tile may have indices out of range, so clamp the
    // indices.
    return b.make<MaxOp>(b.make<MinOp>(row, b.integer(numRows - 1)),
                         b.integer(0));
  }

  LoweringBuilder b;
  GroupedMatmulOp op;
  int64_t numExperts, numRows, n;
  /// Tensors that describe the rows of the experts:
  ///
  ///   counts   per expert: number of its rows
  ///   ends     per expert: index after its last row
  ///   starts   per expert: index of its first row
  ///   isRow    per row: false for padding
  ///   expert   per row: index of its expert (0 for padding)
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
