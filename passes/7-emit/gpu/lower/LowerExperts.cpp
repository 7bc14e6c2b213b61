//===- LowerExperts.cpp - mixture-of-experts ops as matmuls and gathers ---===//

#include "passes/7-emit/gpu/lower/LowerExperts.h"
#include "passes/7-emit/gpu/lower/AllPairs.h"
#include "passes/7-emit/gpu/lower/LowerScans.h"

using namespace mlir;
using namespace pcc;
using namespace pcc::emit;
using namespace pcc::graph;

/// Returns the index of the source of each row. Sources, such as experts, have
/// contiguous ranges of rows, one after the other. Entry i of `counts` is the
/// number of rows of sources 0 to i. Example: sources 0, 1 and 2 have 2, 0 and
/// 3 rows.
///
///   counts [2, 2, 5], numRows 6   ->   sources 0 0 2 2 2 3
///
/// The last row belongs to no source, so it gets 3, the number of sources.
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

/// Returns 1 for each (token, expert) pair whose token is sent to the expert,
/// else 0: [tokens, experts]. `gate` has the weight of each pair. A token is
/// sent to all experts with a weight other than 0. If these are more than
/// `chosen` experts, it is sent to the first `chosen` of them.
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
/// by expert. Needs no sort: a matrix [experts, tokens] has one element per
/// pair, and its elements are already sorted by expert.
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
/// of its expert. The rows of an expert are contiguous. Rows after the last
/// expert are padding; their result is 0.
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

  /// Returns an upper bound of the number of tiles. The rows of each expert
  /// fill tiles of 128 rows, of which the last one may be partly empty.
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

  /// Returns the product of each row with the matrix of its expert, [rows, n].
  /// Multiplies all rows with all matrices, [experts, rows, n], and selects one
  /// product per row.
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
  /// Copies the rows of each expert into tiles of 128 rows. Multiplies each
  /// tile with the expert's matrix. Gathers the products of the rows from the
  /// tiles.
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
    // A padding row belongs to no expert, so it has no product. Let it read the
    // product at index 0; replace() sets its result to 0.
    place = b.selectOr(isRow, place, 0);
    return at(b.reshape(made, {numTiles() * tile, n}), place);
  }

  /// Returns the indices of the input rows that each tile holds, [tiles, 128].
  /// All rows of a tile belong to one expert:
  ///
  ///   owner        expert of each tile
  ///   tileStarts   index of the first tile of each expert
  Value rowsOfTiles(Value owner, Value tileStarts) {
    Value number =
        b.make<SubOp>(b.positions(numTiles(), 0, 1), at(tileStarts, owner));
    Value first = b.make<AddOp>(at(starts, owner),
                                b.make<MulOp>(number, b.integer(tile)));
    Value row = b.make<AddOp>(b.reshape(first, {numTiles(), 1}),
                              b.positions(tile, 1, 2));
    // The last tile of an expert may be partly empty. Indices in its empty part
    // can be out of range, so clamp them.
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
