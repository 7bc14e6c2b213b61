//===- FusedAttentionGradients.cpp - FlashAttention backward pass on GPUs -===//
//
// Backward pass of FlashAttention (Dao et al. 2022). P are the attention
// weights and dP their gradients, as in `graph.attention_query_gradient`. The
// gradients of the dot products of queries and keys are
//
//   dS = slope · P (dP − mean)
//
// where `slope` is the derivative of a score by its dot product, and `mean` is
// Σ P dP over a row. Scores are recomputed from queries and keys:
//
//   rows are queries   a first loop over the keys computes top, share and mean
//                      of each row; a second loop computes dQ = dS K
//   rows are keys      computes Sᵀ = K Qᵀ and dPᵀ = V dYᵀ, then dV = Pᵀ dY and
//                      dK = dSᵀ Q
//
// Each row of a result is written by one block, without atomic additions. The
// order of additions is therefore always the same.
//
//===----------------------------------------------------------------------===//

#include "passes/7-emit/gpu/kernel/AttentionTile.h"
#include "passes/7-emit/gpu/kernel/FusedAttention.h"
#include "passes/7-emit/gpu/kernel/SharedMemory.h"

using namespace mlir;
using namespace pcc;
using namespace pcc::emit;

namespace {
/// Base class of the kernels for the gradient of queries and for the gradients
/// of keys and values. A block processes a tile in shared memory in chunks of
/// 16 rows. The small chunks limit the number of registers for scores and their
/// gradients.
class GradientTile : protected AttentionTile {
protected:
  /// Number of rows of a tile that are processed together (a chunk): 16, the
  /// size of the contracted dim of one tensor core instruction on bf16 or f16.
  static constexpr int64_t chunk = 2 * WarpProduct::depth;

  /// Allocates shared memory for the two tiles `ofKeys` and `ofValues`.
  GradientTile(KernelWriter &w, Operation *op, const Index &block,
               const Index &thread)
      : AttentionTile(w, cast<graph::AttentionOpInterface>(op), block, thread),
        ofKeys(allocate(plan.pitchOfRows(plan.depth))),
        ofValues(allocate(plan.pitchOfRows(plan.width))) {}

  /// Products of this thread's rows with the rows of one chunk (16 rows of a
  /// tile): the scores, the slopes (derivatives of the scores by the dot
  /// products), and the gradients dP of the softmax weights (`products`). Each
  /// entry of a list covers eight rows of the chunk.
  struct ChunkProducts {
    std::vector<Sums> scores, slopes, products;
  };

  /// Returns this thread's elements of a result with `size` columns, all 0.
  /// Each entry covers eight columns.
  std::vector<Sums> zeros(int64_t size) {
    return std::vector<Sums>(llvm::divideCeil(size, WarpProduct::columns),
                             product.zeros());
  }

  /// Emits the products of this thread's rows with one chunk (16 rows) of the
  /// current tile. The chunk begins at row `column` of the tile. `first` is the
  /// index of the key or query in the first row of the tile.
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

  /// Emits an element of the softmax weights P: exp(score − top) · share. `top`
  /// is the largest score of the row. `share` is the reciprocal of the sum of
  /// exp(score − top) over the row.
  Value weight(Value score, Value top, Value share) {
    return w.scalar().mul(weightOf(w, score, top), share);
  }

  /// Emits dS, the gradient of the dot product of one query and one key: slope
  /// · P · (dP − mean). The parameters are
  ///
  ///   weight    P, the softmax weight
  ///   product   dP, the gradient of the softmax weight
  ///   mean      Σ P · dP over all keys of the query
  ///   slope     derivative of the score by the dot product
  Value centred(Value weight, Value product, Value mean, Value slope) {
    ScalarBuilder s = w.scalar();
    return s.mul(s.mul(weight, s.sub(product, mean)), slope);
  }

  /// Adds to `sums` the product of `left` and a chunk of `matrix` (up to 16
  /// rows), which begins at row number `row`.
  void addColumns(std::vector<Sums> &sums, ArrayRef<Left> left,
                  const SharedMatrix &matrix, int64_t row) {
    for (auto [group, own] : llvm::enumerate(sums))
      own = product.add(own, left,
                        product.rightFromColumns(
                            matrix, int64_t(group) * WarpProduct::columns, row,
                            int64_t(left.size()) * WarpProduct::depth));
  }

  /// Appends all SSA values of `sums` to `values`, a flat list that a loop can
  /// carry.
  static void append(Values &values, ArrayRef<Sums> sums) {
    for (const Sums &own : sums)
      llvm::append_range(values, own);
  }
  /// Removes the SSA values of `count` Sums from the front of the flat list
  /// `values`, four values for each, and returns these Sums.
  static std::vector<Sums> take(ValueRange &values, size_t count) {
    std::vector<Sums> sums;
    for (; sums.size() < count; values = values.drop_front(4))
      sums.emplace_back(values.take_front(4));
    return sums;
  }

  /// Tiles of the block in shared memory. `ofKeys` has keys or queries.
  /// `ofValues` has values or gradients of the attention's result.
  const SharedMatrix ofKeys, ofValues;
  /// This thread's elements of the rows that the block owns, as left operands.
  /// `leftOfKeys` has queries or keys. `leftOfValues` has gradients of the
  /// attention's result or values.
  std::vector<Left> leftOfKeys, leftOfValues;
};

/// Emits the kernel of graph.attention_query_gradient, the gradient of the
/// queries. Each block owns a tile of queries and loops over the keys.
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
  /// Emits a loop over the tiles of keys. Each iteration loads a tile of keys
  /// and values into shared memory, then runs `body`. `start` are the
  /// loop-carried values of the first iteration. Returns the loop-carried
  /// values after the last iteration.
  Values overKeys(ValueRange start,
                  llvm::function_ref<Values(const Index &, ValueRange)> body) {
    return w.loop(w.scalar().integer(i64, 0), numSeenTiles(),
                  llvm::divideCeil(plan.keys, plan.otherTile), start,
                  [&](const Index &number, ValueRange so) {
                    const Index first = w.indices.scale(number, plan.otherTile);
                    syncThreads(w); // all threads have read the previous tile
                    fetch(own.getKey(), first, ofKeys);
                    fetch(own.getValue(), first, ofValues);
                    syncThreads(w);
                    return body(first, so);
                  });
  }

  /// Emits the first of two loops over the keys. This loop computes three
  /// numbers for each of the thread's two queries:
  ///
  ///   top     largest score
  ///   share   1 / Σ P, where P = exp(score − top) is the weight of a key
  ///   mean    Σ P · dP / Σ P, where dP is the gradient of P
  ///
  /// Whenever `top` grows, the online softmax rescales both sums.
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

  /// Emits the update of `softmax`, the softmax state, and of `sum`, Σ P dP, by
  /// one chunk (16 rows) of keys. P are the softmax weights, and dP are their
  /// gradients.
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

  /// Emits the second loop over the keys, which computes the gradient of the
  /// queries, dQ = dS K. Here dS is the gradient of the dot products, and K are
  /// the keys. Returns this thread's elements of dQ.
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

/// Emits the kernel of graph.attention_key_gradient, the gradients of keys and
/// values. Each block owns a tile of keys and loops over the queries.
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
  /// Emits `body`. With a causal mask, also emits a branch that skips `body` at
  /// run time if no query of the tile may attend to a key of the block. `first`
  /// is the first query row of the tile. `so` are the loop-carried values
  /// before `body`. Returns the values of `body`, or `so` if `body` is skipped.
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

  /// Emits the contribution of one tile of queries to dK and dV, the gradients
  /// of keys and values. `first` is the first query row of the tile. Adds the
  /// contribution to this thread's elements of dK (`ofKey`) and of dV
  /// (`ofValue`).
  void overTile(const Index &first, std::vector<Sums> &ofKey,
                std::vector<Sums> &ofValue) {
    syncThreads(w); // all threads have read the previous tile
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
