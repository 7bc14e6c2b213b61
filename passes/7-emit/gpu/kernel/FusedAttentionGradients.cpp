//===- FusedAttentionGradients.cpp - attention's gradients in two kernels -===//
//
// With P and dP of `graph.attention_query_gradient`:
//
//   dS = slope · P (dP − mean)
//
//   rows are queries   a first walk over the keys gives top, share and mean of
//                      each row, a second one dQ = dS K
//   rows are keys      Sᵀ = K Qᵀ and dPᵀ = V dYᵀ, then dV = Pᵀ dY, dK = dSᵀ Q
//
// Every row has one writer, so nothing is added up in memory and the order of
// additions is always the same.
//
//===----------------------------------------------------------------------===//

#include "passes/7-emit/gpu/kernel/AttentionTile.h"
#include "passes/7-emit/gpu/kernel/FusedAttention.h"
#include "passes/7-emit/gpu/kernel/SharedMemory.h"

using namespace mlir;
using namespace pcc;
using namespace pcc::emit;

namespace {
/// What both kernels do with a tile of the others: products in chunks, since
/// scores and their gradients need registers.
class GradientTile : protected AttentionTile {
protected:
  /// Others of a chunk: what one instruction of narrow numbers takes.
  static constexpr int64_t chunk = 2 * WarpProduct::depth;

  /// `ofKeys` and `ofValues`: per element of a key and of a value.
  GradientTile(KernelWriter &w, Operation *op, const Index &block,
               const Index &thread)
      : AttentionTile(w, cast<graph::AttentionOpInterface>(op), block, thread),
        ofKeys(allocate(plan.pitchOfRows(plan.depth))),
        ofValues(allocate(plan.pitchOfRows(plan.width))) {}

  struct ChunkProducts {
    std::vector<Sums> scores, slopes, products; ///< S, what S grows by, dP
  };

  std::vector<Sums> zeros(int64_t size) {
    return std::vector<Sums>(llvm::divideCeil(size, WarpProduct::columns),
                             product.zeros());
  }

  /// The others from `column` on, at most `chunk`, of the tile that begins with
  /// `first`.
  ChunkProducts chunkAt(const Index &first, int64_t column) {
    ChunkProducts part;
    for (int64_t own = column; own < std::min(column + chunk, plan.otherTile);
         own += WarpProduct::columns) {
      auto multiply = [&](ArrayRef<Left> left, const SharedMatrix &right) {
        return product.add(
            product.zeros(), left,
            product.rightFromRows(right, own,
                                  int64_t(left.size()) * WarpProduct::depth));
      };
      Sums scores = multiply(leftOfKeys, ofKeys), slopes;
      for (auto [place, value] : llvm::enumerate(scores)) {
        const Score made = score(value, scorePlace(first, own, int64_t(place)));
        value = made.value;
        slopes.push_back(made.slope);
      }
      part.scores.push_back(scores);
      part.slopes.push_back(slopes);
      part.products.push_back(multiply(leftOfValues, ofValues));
    }
    return part;
  }

  Value weight(Value score, Value top, Value share) {
    return w.scalar().mul(weightOf(w, score, top), share);
  }

  /// slope · weight · (dP − mean)
  Value centred(Value weight, Value product, Value mean, Value slope) {
    ScalarBuilder s = w.scalar();
    return s.mul(s.mul(weight, s.sub(product, mean)), slope);
  }

  /// sums + left · the columns of `matrix`, whose rows are others from `row` on
  void addColumns(std::vector<Sums> &sums, ArrayRef<Left> left,
                  const SharedMatrix &matrix, int64_t row) {
    for (auto [group, own] : llvm::enumerate(sums))
      own = product.add(own, left,
                        product.rightFromColumns(
                            matrix, int64_t(group) * WarpProduct::columns, row,
                            int64_t(left.size()) * WarpProduct::depth));
  }

  static void append(Values &values, ArrayRef<Sums> sums) {
    for (const Sums &own : sums)
      llvm::append_range(values, own);
  }
  static std::vector<Sums> take(ValueRange &values, size_t count) {
    std::vector<Sums> sums;
    for (; sums.size() < count; values = values.drop_front(4))
      sums.emplace_back(values.take_front(4));
    return sums;
  }

  const SharedMatrix ofKeys, ofValues;
  std::vector<Left> leftOfKeys, leftOfValues;
};

class QueryGradientWriter : GradientTile {
public:
  QueryGradientWriter(KernelWriter &w, graph::AttentionQueryGradientOp op,
                      const Index &block, const Index &thread)
      : GradientTile(w, op, block, thread), own(op) {}

  void write(ArrayRef<Value> outputs) {
    leftOfKeys = readRows(own.getQuery());
    leftOfValues = readRows(own.getGradient());
    describeRows();
    storeNumbers(own.getTop(), top, outputs);
    storeNumbers(own.getShare(), share, outputs);
    storeNumbers(own.getMean(), mean, outputs);
    if (!outputOf(own.getResult(), outputs))
      return;
    Value one = w.scalar().number(f32, 1);
    storeRows(own.getResult(), walkAgain(), {one, one}, outputs);
  }

private:
  Values overKeys(ValueRange start,
                  llvm::function_ref<Values(const Index &, ValueRange)> body) {
    return w.loop(w.scalar().integer(i64, 0), numSeenTiles(),
                  llvm::divideCeil(plan.keys, plan.otherTile), start,
                  [&](const Index &number, ValueRange so) {
                    const Index first = w.indices.scale(number, plan.otherTile);
                    syncThreads(w); // the tile before has been read
                    fetch(own.getKey(), first, ofKeys);
                    fetch(own.getValue(), first, ofValues);
                    syncThreads(w);
                    return body(first, so);
                  });
  }

  /// The first walk: `mean` is Σ P dP while the softmax goes on.
  void describeRows() {
    ScalarBuilder s = w.scalar();
    Values start = OnlineSoftmax::start(w).flat();
    start.append(2, s.zero(f32));
    const Values so = overKeys(start, [&](const Index &first, ValueRange so) {
      OnlineSoftmax softmax =
          OnlineSoftmax::from(so.take_front(OnlineSoftmax::size));
      Halves sum{so[OnlineSoftmax::size], so[OnlineSoftmax::size + 1]};
      for (int64_t column = 0; column < plan.otherTile; column += chunk)
        addChunk(chunkAt(first, column), softmax, sum);
      Values next = softmax.flat();
      next.append({sum[0], sum[1]});
      return next;
    });
    const OnlineSoftmax softmax =
        OnlineSoftmax::from(ValueRange(so).take_front(OnlineSoftmax::size));
    const Halves totals = sumOfRows(softmax.total),
                 sums = sumOfRows(
                     {so[OnlineSoftmax::size], so[OnlineSoftmax::size + 1]});
    for (int64_t half : {0, 1}) {
      share[half] = inverseTotalOf(w, totals[half]);
      mean[half] = s.mul(sums[half], share[half]);
      top[half] = softmax.top[half];
    }
  }

  void addChunk(const ChunkProducts &part, OnlineSoftmax &softmax,
                Halves &sum) {
    ScalarBuilder s = w.scalar();
    const Halves scale = softmax.update(w, part.scores);
    for (int64_t half : {0, 1})
      sum[half] = s.mul(sum[half], scale[half]);
    for (auto [scores, products] : llvm::zip_equal(part.scores, part.products))
      for (size_t place = 0; place < scores.size(); ++place) {
        const size_t half = place / 2;
        Value own = weightOf(w, scores[place], softmax.top[half]);
        softmax.total[half] = s.add(softmax.total[half], own);
        sum[half] = s.add(sum[half], s.mul(own, products[place]));
      }
  }

  /// The second walk: dQ.
  std::vector<Sums> walkAgain() {
    Values start;
    const std::vector<Sums> none = zeros(plan.depth);
    append(start, none);
    const Values so = overKeys(start, [&](const Index &first, ValueRange so) {
      std::vector<Sums> sums = take(so, none.size());
      for (int64_t column = 0; column < plan.otherTile; column += chunk) {
        const ChunkProducts part = chunkAt(first, column);
        std::vector<Left> left;
        for (size_t i = 0; i < part.scores.size(); ++i) {
          Sums gradients;
          for (size_t place = 0; place < 4; ++place)
            gradients.push_back(centred(
                weight(part.scores[i][place], top[place / 2], share[place / 2]),
                part.products[i][place], mean[place / 2],
                part.slopes[i][place]));
          left.push_back(product.leftOf(gradients));
        }
        addColumns(sums, left, ofKeys, column);
      }
      Values next;
      append(next, sums);
      return next;
    });
    ValueRange rest(so);
    return take(rest, none.size());
  }

  graph::AttentionQueryGradientOp own;
  Halves top, share, mean;
};

class KeyGradientWriter : GradientTile {
public:
  KeyGradientWriter(KernelWriter &w, graph::AttentionKeyGradientOp op,
                    const Index &block, const Index &thread)
      : GradientTile(w, op, block, thread), own(op) {}

  void write(ArrayRef<Value> outputs) {
    leftOfKeys = readRows(own.getKey());
    leftOfValues = readRows(own.getValue());
    const std::vector<Sums> keys = zeros(plan.depth),
                            values = zeros(plan.width);
    Values start;
    append(start, keys);
    append(start, values);
    const int64_t numTiles = llvm::divideCeil(plan.others(), plan.otherTile);
    const Values so =
        w.loop(numTiles, start, [&](const Index &number, ValueRange so) {
          const Index first = w.indices.scale(number, plan.otherTile);
          return ifSeen(first, so, [&] {
            std::vector<Sums> ofKey = take(so, keys.size()),
                              ofValue = take(so, values.size());
            overTile(first, ofKey, ofValue);
            Values next;
            append(next, ofKey);
            append(next, ofValue);
            return next;
          });
        });
    ValueRange rest(so);
    Value one = w.scalar().number(f32, 1);
    storeRows(own.getKeyGradient(), take(rest, keys.size()), {one, one},
              outputs);
    storeRows(own.getValueGradient(), take(rest, values.size()), {one, one},
              outputs);
  }

private:
  /// Tiles whose queries all come before the block's keys are passed over.
  Values ifSeen(const Index &first, ValueRange so,
                llvm::function_ref<Values()> body) {
    if (!op.getCausal())
      return body();
    ScalarBuilder s = w.scalar();
    Value last = s.add(lastQuery(first, plan.otherTile),
                       s.integer(i64, plan.keys - plan.queries));
    return w.branch(
        s.compare(arith::CmpIPredicate::sge, last, w.materialise(firstRow)), so,
        body);
  }

  void overTile(const Index &first, std::vector<Sums> &ofKey,
                std::vector<Sums> &ofValue) {
    syncThreads(w); // the tile before has been read
    fetch(own.getQuery(), first, ofKeys);
    fetch(own.getGradient(), first, ofValues);
    syncThreads(w);
    for (int64_t column = 0; column < plan.otherTile; column += chunk) {
      const ChunkProducts part = chunkAt(first, column);
      std::vector<Left> weights, gradients;
      for (size_t i = 0; i < part.scores.size(); ++i) {
        Sums ofScores, ofProducts;
        const int64_t at = column + int64_t(i) * WarpProduct::columns;
        for (size_t place = 0; place < 4; ++place) {
          const ScorePlace from = scorePlace(first, at, int64_t(place));
          auto numberOf = [&](Value rows) { return w.read(rows, from.query); };
          ofScores.push_back(weight(part.scores[i][place],
                                    numberOf(own.getTop()),
                                    numberOf(own.getShare())));
          ofProducts.push_back(centred(ofScores.back(), part.products[i][place],
                                       numberOf(own.getMean()),
                                       part.slopes[i][place]));
        }
        weights.push_back(product.leftOf(ofScores));
        gradients.push_back(product.leftOf(ofProducts));
      }
      addColumns(ofKey, gradients, ofKeys, column);
      addColumns(ofValue, weights, ofValues, column);
    }
  }

  graph::AttentionKeyGradientOp own;
};
} // namespace

void pcc::emit::writeQueryGradient(KernelWriter &w,
                                   graph::AttentionQueryGradientOp op,
                                   ArrayRef<Value> outputs, const Index &block,
                                   const Index &thread) {
  QueryGradientWriter(w, op, block, thread).write(outputs);
}

void pcc::emit::writeKeyGradient(KernelWriter &w,
                                 graph::AttentionKeyGradientOp op,
                                 ArrayRef<Value> outputs, const Index &block,
                                 const Index &thread) {
  KeyGradientWriter(w, op, block, thread).write(outputs);
}
