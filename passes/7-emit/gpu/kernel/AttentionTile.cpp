//===- AttentionTile.cpp - base class of the fused attention kernels ------===//

#include "passes/7-emit/gpu/kernel/AttentionTile.h"
#include "passes/7-emit/gpu/kernel/SharedMemory.h"
#include "passes/7-emit/gpu/kernel/WarpShuffles.h"
#include "passes/7-emit/kernel/StridedView.h"

using namespace mlir;
using namespace pcc;
using namespace pcc::emit;

/// Chooses the tile of queries or keys for this thread block, and two rows of
/// the tile for this thread. With a causal mask, the first thread block
/// computes the last queries. The last queries take the most time, because they
/// attend to the most keys, and the GPU starts the first block first.
AttentionTile::AttentionTile(KernelWriter &w, graph::AttentionOpInterface op,
                             const Index &block, const Index &thread)
    : w(w), op(op), plan(op), product(w, plan.element, thread), thread(thread),
      f32(w.builder.getF32Type()), i64(w.builder.getI64Type()) {
  const MultiIndex at =
      w.indices.delinearise(block, {plan.batch, plan.keyHeads, plan.tiles()});
  batch = at[0];
  keyHead = at[1];
  Index tile = at[2];
  if (op.getCausal() && !plan.rowsAreKeys)
    tile = plus(w.indices.scale(tile, -1), plan.tiles() - 1);
  firstRow = w.indices.scale(tile, plan.rowTile());
  const Index own = w.indices.add(
      firstRow,
      w.indices.add(w.indices.scale(product.warp(), WarpProduct::rows),
                    product.row()));
  rows = {bounded(own, plan.rows()), bounded(plus(own, 8), plan.rows())};
}

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

Index AttentionTile::plus(const Index &a, int64_t b) const {
  return w.indices.add(a, IndexSpace::constant(b));
}

Bounded AttentionTile::bounded(const Index &index, int64_t size) {
  if (rangeOf(index).high < size)
    return {index, {}};
  ScalarBuilder s = w.scalar();
  Value number = w.materialise(index), last = s.integer(i64, size - 1);
  return {w.indices.leaf(s.smaller(number, last, /*isUnsigned=*/false), 0,
                         size - 1),
          s.compare(arith::CmpIPredicate::sle, number, last)};
}

Value AttentionTile::keptIf(Value condition, Value value, Value otherwise) {
  return condition ? w.scalar().select(condition, value, otherwise) : value;
}

MultiIndex AttentionTile::queryPlace(const Index &row) {
  const Index head = w.indices.add(w.indices.scale(keyHead, plan.group),
                                   w.indices.quotient(row, plan.queries));
  return {batch, head, w.indices.remainder(row, plan.queries)};
}

/// Emits the largest index, within its head, of the queries with the numbers
/// `first` to `first` + `count` − 1. The numbers count the queries of all heads
/// that share one key head, one head after another. Example: with 100 queries
/// per head, the numbers 98 to 101 are the queries 98 and 99 of head 0, and the
/// queries 0 and 1 of head 1. The result is 99.
Value AttentionTile::lastQuery(const Index &first, int64_t count) {
  ScalarBuilder s = w.scalar();
  const Bounded last = bounded(plus(first, count - 1), plan.queryRows());
  auto headOf = [&](const Index &row) {
    return w.materialise(w.indices.quotient(row, plan.queries));
  };
  Value isOneHead =
      s.compare(arith::CmpIPredicate::eq, headOf(first), headOf(last.index));
  return s.select(isOneHead,
                  w.materialise(w.indices.remainder(last.index, plan.queries)),
                  s.integer(i64, plan.queries - 1));
}

Value AttentionTile::numSeenTiles() {
  ScalarBuilder s = w.scalar();
  if (!op.getCausal())
    return s.integer(i64, llvm::divideCeil(plan.keys, plan.otherTile));
  // With S queries and T keys, query q may attend to the first q + 1 + T − S
  // keys. Compute the number of key tiles that contain these keys, for the last
  // query of this tile. To round the division by `otherTile` up, `rounded` is
  // the number of keys plus `otherTile` − 1.
  Value rounded =
      s.add(lastQuery(firstRow, plan.rowTile()),
            s.integer(i64, plan.keys - plan.queries + plan.otherTile));
  Value seen = s.larger(rounded, s.integer(i64, 0), /*isUnsigned=*/false);
  return arith::DivUIOp::create(w.builder, w.loc, seen,
                                s.integer(i64, plan.otherTile));
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

/// Returns the size of the last dim of `tensor`. A row of `tensor` is a vector
/// along this dim, such as one query or one key.
static int64_t sizeOfRows(Value tensor) {
  return graph::tensorType(tensor).getShape().back();
}

Value AttentionTile::elementAt(Value tensor, const MultiIndex &row,
                               const Index &column) {
  const Bounded within = bounded(column, sizeOfRows(tensor));
  MultiIndex at(row);
  at.push_back(within.index);
  Value element = w.read(tensor, at);
  return keptIf(within.isThere, element, w.scalar().zero(element.getType()));
}

std::vector<WarpProduct::Left> AttentionTile::readRows(Value tensor) {
  const std::array<MultiIndex, 2> places{rowPlace(0), rowPlace(1)};
  auto pairAt = [&](int64_t half, int64_t first) {
    const Index column = plus(product.pair(), first);
    Value low = elementAt(tensor, places[half], column);
    return product.pairOf(low,
                          elementAt(tensor, places[half], plus(column, 1)));
  };
  std::vector<Left> left;
  for (int64_t first = 0; first < sizeOfRows(tensor);
       first += WarpProduct::depth) {
    Pair top = pairAt(0, first);
    left.push_back({top, pairAt(1, first)});
  }
  return left;
}

SharedMatrix AttentionTile::allocate(int64_t pitch) {
  return {allocateShared(w, plan.element, plan.otherTile * pitch), pitch};
}

/// Returns how many neighboring elements a thread copies at once: the largest
/// power of two that divides the row size `size` and fits into 16 bytes.
static int64_t vectorFor(Type element, int64_t size) {
  int64_t vector = 128 / element.getIntOrFloatBitWidth();
  while (size % vector != 0)
    vector /= 2;
  return vector;
}

void AttentionTile::fetch(Value tensor, const Index &first,
                          const SharedMatrix &matrix) {
  const int64_t size = sizeOfRows(tensor),
                vector = vectorFor(plan.element, size),
                perRow = llvm::alignTo(size, WarpProduct::depth) / vector,
                chunks = perRow * plan.otherTile;
  auto chunk = [&](const Index &number) {
    const Index row = w.indices.quotient(number, perRow),
                start = w.indices.scale(w.indices.remainder(number, perRow),
                                        vector);
    const Bounded other = bounded(w.indices.add(first, row), plan.others());
    const MultiIndex place = otherPlace(other.index);
    Values elements;
    for (int64_t lane = 0; lane < vector; ++lane) {
      Value element = elementAt(tensor, place, plus(start, lane));
      elements.push_back(
          keptIf(other.isThere, element, w.scalar().zero(element.getType())));
    }
    for (auto [lane, element] : llvm::enumerate(elements))
      w.store(matrix.memory, plan.element,
              plus(w.indices.add(w.indices.scale(row, matrix.pitch), start),
                   int64_t(lane)),
              element);
  };
  const int64_t threads = plan.threads();
  for (int64_t done = 0; done < chunks; done += threads) {
    const Bounded own = bounded(plus(thread, done), chunks);
    doIf(own.isThere, [&] { chunk(own.index); });
  }
}

//===----------------------------------------------------------------------===//
// Scores
//===----------------------------------------------------------------------===//

ScorePlace AttentionTile::scorePlace(const Index &firstOther, int64_t column,
                                     int64_t sum) {
  const Bounded &row = rows[sum / 2];
  const Bounded other =
      bounded(plus(w.indices.add(firstOther, product.pair()), column + sum % 2),
              plan.others());
  if (plan.rowsAreKeys)
    return {queryPlace(other.index), row.index, other.isThere};
  return {queryPlace(row.index), other.index, other.isThere};
}

AttentionTile::Halves AttentionTile::sumOfRows(const Halves &own) {
  ScalarBuilder s = w.scalar();
  const Values sums = reduceLanes(
      w, own, WarpProduct::lanesOfRow, [&](ValueRange a, ValueRange b) {
        return Values{s.add(a[0], b[0]), s.add(a[1], b[1])};
      });
  return {sums[0], sums[1]};
}

//===----------------------------------------------------------------------===//
// Storing
//===----------------------------------------------------------------------===//

Value pcc::emit::outputOf(Value result, ArrayRef<Value> outputs) {
  const SmallVector<Operation *> order = layoutOpsAfter(result);
  Value last = order.empty() ? result : order.back()->getResult(0);
  Operation *yield = result.getParentBlock()->getTerminator();
  auto place = llvm::find(yield->getOperands(), last);
  return place == yield->operand_end()
             ? Value()
             : outputs[place - yield->operand_begin()];
}

void AttentionTile::doIf(Value condition, llvm::function_ref<void()> body) {
  if (condition)
    w.branch(condition, body, [] {});
  else
    body();
}

void AttentionTile::storeRows(Value result, ArrayRef<Sums> sums,
                              const Halves &factors, ArrayRef<Value> outputs) {
  Value output = outputOf(result, outputs);
  if (!output)
    return;
  const StridedView view = *storedView(result, layoutOpsAfter(result));
  auto store = [&](const MultiIndex &row, int64_t column, Value value) {
    const Bounded within =
        bounded(plus(product.pair(), column), sizeOfRows(result));
    MultiIndex at(row);
    at.push_back(within.index);
    doIf(within.isThere, [&] {
      w.store(output, plan.element,
              plus(w.indices.dot(at, view.strides), view.offset), value);
    });
  };
  for (int64_t half : {0, 1})
    doIf(rows[half].isThere, [&] {
      const MultiIndex place = rowPlace(half);
      int64_t column = 0;
      for (const Sums &own : sums) {
        for (int64_t next : {0, 1})
          store(place, column + next,
                w.scalar().mul(own[half * 2 + next], factors[half]));
        column += WarpProduct::columns;
      }
    });
}

void AttentionTile::storeNumbers(Value result, const Halves &numbers,
                                 ArrayRef<Value> outputs) {
  Value output = outputOf(result, outputs);
  if (!output)
    return;
  ScalarBuilder s = w.scalar();
  Value isFirst = s.compare(arith::CmpIPredicate::eq,
                            w.materialise(product.pair()), s.integer(i64, 0));
  doIf(isFirst, [&] {
    for (int64_t half : {0, 1})
      doIf(rows[half].isThere, [&] {
        w.store(output, f32,
                w.indices.linearise(rowPlace(half),
                                    graph::tensorType(result).getShape()),
                numbers[half]);
      });
  });
}
