//===- FusedAttention.cpp - attention in one kernel -----------------------===//
//
// Scores of a tile of keys are weighted with the largest score so far; when a
// tile brings a larger one, what was added up is scaled to it:
//
//   for each tile of keys:  S = cap(scale · Q Kᵀ) + mask
//                           m' = max(m, rows of S),  P = exp(S − m')
//                           l = l exp(m − m') + Σ P,  O = O exp(m − m') + P V
//   result:                 O / l
//
//===----------------------------------------------------------------------===//

#include "passes/7-emit/gpu/FusedAttention.h"
#include "passes/7-emit/KernelFloat.h"
#include "passes/7-emit/StridedView.h"
#include "passes/7-emit/gpu/SharedMemory.h"
#include "passes/7-emit/gpu/Shuffles.h"
#include "passes/7-emit/gpu/WarpProduct.h"
#include <cmath>

using namespace mlir;
using namespace pcc;
using namespace pcc::emit;

using Values = SmallVector<Value>;
using Left = WarpProduct::Left;
using Pair = WarpProduct::Pair;
using Sums = WarpProduct::Sums;

/// Threads that hold a row of sums together.
static constexpr int64_t quads = 4;

namespace {
/// An index that is within its dim, and whether it was; null where it is for
/// sure.
struct Bounded {
  Index index;
  Value isThere;
};

/// What a thread has while it goes over the keys. Index 0 of `top` and `total`
/// is of row g, index 1 of row g + 8.
struct RowState {
  std::vector<Sums> results; ///< of eight columns each
  std::array<Value, 2> top, total;

  Values flat() const {
    Values values;
    for (const Sums &sums : results)
      llvm::append_range(values, sums);
    llvm::append_range(values, top);
    llvm::append_range(values, total);
    return values;
  }

  static RowState from(ValueRange values) {
    RowState state;
    for (; values.size() > 4; values = values.drop_front(4))
      state.results.emplace_back(values.take_front(4));
    state.top = {values[0], values[1]};
    state.total = {values[2], values[3]};
    return state;
  }
};

class AttentionWriter {
public:
  AttentionWriter(KernelWriter &w, graph::AttentionOp op, const Index &block,
                  const Index &thread)
      : w(w), op(op), plan(op), product(w, plan.element, thread),
        thread(thread), f32(w.builder.getF32Type()),
        i64(w.builder.getI64Type()) {
    enter(block);
    auto allocate = [&](int64_t pitch) {
      return SharedMatrix{allocateShared(w, plan.element, plan.keyTile * pitch),
                          pitch};
    };
    keyMemory = allocate(plan.keyPitch());
    valueMemory = allocate(plan.valuePitch());
  }

  void write(Value output) {
    const std::vector<Left> query = readQueries();
    const int64_t numTiles = llvm::divideCeil(plan.keys, plan.keyTile);
    auto tile = [&](const Index &number, ValueRange so) {
      return overTile(query, w.indices.scale(number, plan.keyTile),
                      RowState::from(so))
          .flat();
    };
    Value none = w.scalar().integer(i64, 0);
    store(RowState::from(
              w.loop(none, lastTile(), numTiles, start().flat(), tile)),
          output);
  }

private:
  //===--------------------------------------------------------------------===//
  // Places
  //===--------------------------------------------------------------------===//

  Index plus(const Index &a, int64_t b) {
    return w.indices.add(a, IndexSpace::constant(b));
  }

  Bounded bounded(const Index &index, int64_t size) {
    if (rangeOf(index).high < size)
      return {index, {}};
    ScalarBuilder s = w.scalar();
    Value number = w.materialise(index), last = s.integer(i64, size - 1);
    return {w.indices.leaf(s.smaller(number, last, /*isUnsigned=*/false), 0,
                           size - 1),
            s.compare(arith::CmpIPredicate::sle, number, last)};
  }

  Value both(Value a, Value b) {
    return a && b ? w.scalar().both(a, b) : a ? a : b;
  }

  Value keptIf(Value condition, Value value, Value otherwise) {
    return condition ? w.scalar().select(condition, value, otherwise) : value;
  }

  /// The batch and key head of the block, and this thread's two rows. Where
  /// later queries see more keys, blocks with more to do come first.
  void enter(const Index &block) {
    const Place at =
        w.indices.delinearise(block, {plan.batch, plan.keyHeads, plan.tiles()});
    batch = at[0];
    keyHead = at[1];
    Index tile = at[2];
    if (op.getCausal())
      tile = plus(w.indices.scale(tile, -1), plan.tiles() - 1);
    firstRow = w.indices.scale(tile, plan.rowTile());
    for (int64_t half : {0, 1}) {
      const Index row =
          plus(w.indices.add(firstRow,
                             w.indices.add(w.indices.scale(product.warp(),
                                                           WarpProduct::rows),
                                           product.row())),
               half * 8);
      rows[half] = bounded(row, plan.rows());
    }
  }

  Index headOf(int64_t half) {
    return w.indices.add(w.indices.scale(keyHead, plan.group),
                         w.indices.quotient(rows[half].index, plan.queries));
  }
  Index queryOf(int64_t half) {
    return w.indices.remainder(rows[half].index, plan.queries);
  }

  /// How many tiles hold keys that a query of this block sees.
  Value lastTile() {
    ScalarBuilder s = w.scalar();
    const int64_t all = llvm::divideCeil(plan.keys, plan.keyTile);
    if (!op.getCausal())
      return s.integer(i64, all);
    const Bounded last =
        bounded(plus(firstRow, plan.rowTile() - 1), plan.rows());
    auto headIn = [&](const Index &row) {
      return w.materialise(w.indices.quotient(row, plan.queries));
    };
    Value isOneHead = s.compare(arith::CmpIPredicate::eq, headIn(firstRow),
                                headIn(last.index));
    Value query = s.select(
        isOneHead, w.materialise(w.indices.remainder(last.index, plan.queries)),
        s.integer(i64, plan.queries - 1));
    // ⌈(query + 1 + T − S) / tile⌉, where that is positive
    Value rounded =
        s.add(query, s.integer(i64, plan.keys - plan.queries + plan.keyTile));
    Value seen = s.larger(rounded, s.integer(i64, 0), /*isUnsigned=*/false);
    return arith::DivUIOp::create(w.builder, w.loc, seen,
                                  s.integer(i64, plan.keyTile));
  }

  //===--------------------------------------------------------------------===//
  // Reading
  //===--------------------------------------------------------------------===//

  /// In f32; 0 where `column` is not among `size`.
  Value elementAt(Value tensor, const Place &row, const Index &column,
                  int64_t size) {
    const Bounded within = bounded(column, size);
    Place at(row);
    at.push_back(within.index);
    Value element = w.read(tensor, at);
    return keptIf(within.isThere, element, w.scalar().zero(element.getType()));
  }

  std::vector<Left> readQueries() {
    std::array<Place, 2> at;
    for (int64_t half : {0, 1})
      at[half] = {batch, headOf(half), queryOf(half)};
    auto pairAt = [&](int64_t half, int64_t first) {
      auto one = [&](int64_t next) {
        return elementAt(op.getQuery(), at[half],
                         plus(product.pair(), first + next), plan.depth);
      };
      Value low = one(0);
      return product.pairOf(low, one(1));
    };
    std::vector<Left> query;
    for (int64_t first = 0; first < plan.depth; first += WarpProduct::depth) {
      Pair top = pairAt(0, first);
      query.push_back({top, pairAt(1, first)});
    }
    return query;
  }

  /// Sixteen bytes where rows are that long.
  int64_t vectorFor(int64_t size) const {
    int64_t vector = 128 / plan.element.getIntOrFloatBitWidth();
    while (size % vector != 0)
      vector /= 2;
    return vector;
  }

  /// Brings the rows of `tensor` from `firstKey` on, of `size` elements, to
  /// shared memory; zeros behind the last.
  void fetch(Value tensor, const Index &firstKey, int64_t size,
             const SharedMatrix &matrix) {
    const int64_t vector = vectorFor(size),
                  perRow = llvm::alignTo(size, WarpProduct::depth) / vector,
                  chunks = perRow * plan.keyTile;
    auto chunk = [&](const Index &number) {
      const Index row = w.indices.quotient(number, perRow),
                  first = w.indices.scale(w.indices.remainder(number, perRow),
                                          vector);
      const Bounded key = bounded(w.indices.add(firstKey, row), plan.keys);
      Values elements;
      for (int64_t place = 0; place < vector; ++place) {
        Value element = elementAt(tensor, {batch, keyHead, key.index},
                                  plus(first, place), size);
        elements.push_back(
            keptIf(key.isThere, element, w.scalar().zero(element.getType())));
      }
      for (auto [place, element] : llvm::enumerate(elements))
        w.store(matrix.memory, plan.element,
                plus(w.indices.add(w.indices.scale(row, matrix.pitch), first),
                     int64_t(place)),
                element);
      return Values();
    };
    const int64_t threads = plan.threads();
    for (int64_t done = 0; done < chunks; done += threads) {
      const Index number = plus(thread, done);
      const Bounded own = bounded(number, chunks);
      if (own.isThere)
        w.branch(own.isThere, ValueRange(), [&] { return chunk(own.index); });
      else
        chunk(number);
    }
  }

  //===--------------------------------------------------------------------===//
  // A tile of keys
  //===--------------------------------------------------------------------===//

  RowState start() {
    RowState state;
    state.results.assign(llvm::divideCeil(plan.width, WarpProduct::columns),
                         product.zeros());
    state.top.fill(w.scalar().number(f32, -HUGE_VAL));
    state.total.fill(w.scalar().zero(f32));
    return state;
  }

  RowState overTile(ArrayRef<Left> query, const Index &firstKey,
                    RowState state) {
    meet(w); // the tile before has been read
    fetch(op.getKey(), firstKey, plan.depth, keyMemory);
    fetch(op.getValue(), firstKey, plan.width, valueMemory);
    meet(w);
    std::vector<Sums> scores;
    for (int64_t column = 0; column < plan.keyTile;
         column += WarpProduct::columns)
      scores.push_back(
          masked(multiplyKeys(query, column), plus(firstKey, column)));
    const std::array<Value, 2> scale = raiseTop(state, scores);
    const std::vector<Left> weights = weigh(state, scores);
    for (auto [group, sums] : llvm::enumerate(state.results)) {
      for (auto [place, value] : llvm::enumerate(sums))
        value = w.scalar().mul(value, scale[place / 2]);
      sums = addValues(sums, weights, int64_t(group));
    }
    return state;
  }

  /// Products of the queries and the eight keys from `column` of the tile on.
  Sums multiplyKeys(ArrayRef<Left> query, int64_t column) {
    return product.add(
        product.zeros(), query,
        product.rightFromRows(keyMemory, column,
                              int64_t(query.size()) * WarpProduct::depth));
  }

  /// Adds what the weights make of eight columns of the values.
  Sums addValues(const Sums &sums, ArrayRef<Left> weights, int64_t group) {
    return product.add(sums, weights,
                       product.rightFromColumns(valueMemory,
                                                group * WarpProduct::columns,
                                                plan.keyTile));
  }

  /// Scores of products with the keys from `firstKey` on.
  Sums masked(const Sums &products, const Index &firstKey) {
    Sums scores;
    for (auto [place, value] : llvm::enumerate(products))
      scores.push_back(score(
          value, int64_t(place) / 2,
          plus(w.indices.add(firstKey, product.pair()), int64_t(place) % 2)));
    return scores;
  }

  Value score(Value value, int64_t half, const Index &key) {
    ScalarBuilder s = w.scalar();
    value = s.mul(value, s.number(f32, op.getScale().convertToDouble()));
    if (const double cap = op.getSoftcap().convertToDouble(); cap > 0) {
      Value limit = s.number(f32, cap);
      Value inner =
          math::TanhOp::create(w.builder, w.loc, s.divide(value, limit));
      value = s.mul(inner, limit);
    }
    const Bounded column = bounded(key, plan.keys);
    Value isSeen = column.isThere;
    if (op.getCausal()) {
      Value last = w.materialise(plus(queryOf(half), plan.keys - plan.queries));
      isSeen = both(isSeen, s.compare(arith::CmpIPredicate::sle,
                                      w.materialise(column.index), last));
    }
    if (Value mask = op.getMask()) {
      Value own = w.readBroadcast(
          mask, {batch, headOf(half), queryOf(half), column.index});
      Type type = graph::tensorType(mask).getElementType();
      if (type.isInteger(1))
        isSeen = both(isSeen, own);
      else
        value = s.add(value, s.convert(own, type, f32));
    }
    return keptIf(isSeen, value, s.number(f32, -HUGE_VAL));
  }

  //===--------------------------------------------------------------------===//
  // Softmax
  //===--------------------------------------------------------------------===//

  Value larger(Value a, Value b) {
    return w.scalar().larger(a, b, /*isUnsigned=*/false);
  }

  /// What scores of a row are compared with: where no key is seen yet, their
  /// weights are 0 whatever that is.
  Value reference(Value top) {
    ScalarBuilder s = w.scalar();
    Value isNone =
        s.compare(arith::CmpFPredicate::OEQ, top, s.number(f32, -HUGE_VAL));
    return s.select(isNone, s.zero(f32), top);
  }

  Value weight(Value score, Value top) {
    ScalarBuilder s = w.scalar();
    return exponential(s, s.sub(score, reference(top)));
  }

  /// Gives what everything so far has to be scaled with.
  std::array<Value, 2> raiseTop(RowState &state, ArrayRef<Sums> scores) {
    Values tops{state.top[0], state.top[1]};
    for (const Sums &sums : scores)
      for (auto [place, value] : llvm::enumerate(sums))
        tops[place / 2] = larger(tops[place / 2], value);
    tops = joinLanes(w, tops, quads, [&](ValueRange a, ValueRange b) {
      return Values{larger(a[0], b[0]), larger(a[1], b[1])};
    });
    std::array<Value, 2> scale;
    for (int64_t half : {0, 1}) {
      scale[half] = weight(state.top[half], tops[half]);
      state.top[half] = tops[half];
      state.total[half] = w.scalar().mul(state.total[half], scale[half]);
    }
    return scale;
  }

  /// The weights of scores, which are added to the total.
  std::vector<Left> weigh(RowState &state, ArrayRef<Sums> scores) {
    std::vector<Left> weights;
    for (Sums sums : scores) {
      for (auto [place, value] : llvm::enumerate(sums)) {
        Value &total = state.total[place / 2];
        value = weight(value, state.top[place / 2]);
        total = w.scalar().add(total, value);
      }
      weights.push_back(product.leftOf(sums));
    }
    return weights;
  }

  //===--------------------------------------------------------------------===//
  // The result
  //===--------------------------------------------------------------------===//

  void store(const RowState &state, Value output) {
    ScalarBuilder s = w.scalar();
    const Values totals =
        joinLanes(w, Values{state.total[0], state.total[1]}, quads,
                  [&](ValueRange a, ValueRange b) {
                    return Values{s.add(a[0], b[0]), s.add(a[1], b[1])};
                  });
    const StridedView view =
        *storedView(op.getResult(), orderBehind(op.getResult()));
    for (int64_t half : {0, 1})
      storeRow(state, half, totals[half], view, output);
  }

  void storeRow(const RowState &state, int64_t half, Value total,
                const StridedView &view, Value output) {
    ScalarBuilder s = w.scalar();
    Value isEmpty = s.compare(arith::CmpFPredicate::OEQ, total, s.zero(f32));
    Value share = s.divide(s.number(f32, 1), total);
    const Place row{batch, headOf(half), queryOf(half)};
    for (auto [group, sums] : llvm::enumerate(state.results))
      for (int64_t next : {0, 1}) {
        Value result =
            s.select(isEmpty, s.zero(f32), s.mul(sums[half * 2 + next], share));
        const Bounded column = bounded(
            plus(product.pair(), int64_t(group) * WarpProduct::columns + next),
            plan.width);
        Place at(row);
        at.push_back(column.index);
        const Index position =
            plus(w.indices.dot(at, view.strides), view.offset);
        storeIf(both(rows[half].isThere, column.isThere), output, position,
                result);
      }
  }

  void storeIf(Value condition, Value output, const Index &position,
               Value value) {
    if (!condition) {
      w.store(output, plan.element, position, value);
      return;
    }
    w.branch(condition, ValueRange(), [&] {
      w.store(output, plan.element, position, value);
      return Values();
    });
  }

  KernelWriter &w;
  graph::AttentionOp op;
  const AttentionPlan plan;
  const WarpProduct product;
  const Index thread;
  Type f32, i64;
  Index batch, keyHead, firstRow;
  std::array<Bounded, 2> rows;
  SharedMatrix keyMemory, valueMemory;
};
} // namespace

void pcc::emit::writeFusedAttention(KernelWriter &w, graph::AttentionOp op,
                                    Value output, const Index &block,
                                    const Index &thread) {
  AttentionWriter(w, op, block, thread).write(output);
}
