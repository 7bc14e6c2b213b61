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
/// Base class of the emitters of the two attention gradient kernels. For the
/// gradient of queries, each thread block loops over tiles of keys. For the
/// gradients of keys and values, each block loops over tiles of queries. A warp
/// processes at most 16 keys or queries of a tile at once, because the threads
/// keep the scores in registers.
class GradientTile : protected AttentionTile {
protected:
  /// Largest number of rows of a tile that a warp processes at once. One bf16
  /// or f16 tensor core instruction sums over 16 rows.
  static constexpr int64_t chunk = 2 * WarpProduct::depth;

  /// Allocates the tiles `ofKeys` and `ofValues` in shared memory. In the
  /// kernel for the gradients of keys and values, these tiles contain queries
  /// and output gradients instead of keys and values.
  GradientTile(KernelWriter &w, Operation *op, const Index &block,
               const Index &thread)
      : AttentionTile(w, cast<graph::AttentionOpInterface>(op), block, thread),
        ofKeys(allocate(plan.pitchOfRows(plan.depth))),
        ofValues(allocate(plan.pitchOfRows(plan.width))) {}

  /// This thread's elements of three matrices, in which a row is a query and a
  /// column is a key. `scores` has the attention scores. `slopes` has the
  /// derivatives of the scores by the dot products. `products` has the
  /// gradients of the softmax weights. In the kernel for the gradients of keys
  /// and values, a row is a key and a column is a query.
  struct ChunkProducts {
    std::vector<Sums> scores, slopes, products;
  };

  /// Returns this thread's elements of a zero matrix with 16 rows and `size`
  /// columns. Each entry of the result contains this thread's four elements of
  /// 8 neighboring columns.
  std::vector<Sums> zeros(int64_t size) {
    return std::vector<Sums>(llvm::divideCeil(size, WarpProduct::columns),
                             product.zeros());
  }

  /// Emits the matrices of ChunkProducts for the warp's 16 queries and up to 16
  /// keys, from key `first` + `column` on. In the kernel for the gradients of
  /// keys and values, the rows are keys and the columns are queries. Returns
  /// this thread's elements.
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

  /// Emits the softmax weight of one query and one key. The weight is
  /// `exp(score − top) · share`. The parameters are:
  ///
  ///   score   attention score of the query and the key
  ///   top     largest attention score of the query
  ///   share   1 / Σ exp(score − top) over all keys of the query
  Value weight(Value score, Value top, Value share) {
    return w.scalar().mul(weightOf(w, score, top), share);
  }

  /// Emits slope · P · (dP − mean), the gradient of the dot product of a query
  /// and a key. P is the softmax weight, and dP (`product`) is its gradient.
  /// `mean` is Σ P · dP over all keys. `slope` is the derivative of the score
  /// by the dot product.
  Value centred(Value weight, Value product, Value mean, Value slope) {
    ScalarBuilder s = w.scalar();
    return s.mul(s.mul(weight, s.sub(product, mean)), slope);
  }

  /// Emits the addition of left · M to `sums`. M consists of the rows `row`,
  /// `row` + 1 and so on of `matrix`, one row for each column of `left`. `sums`
  /// and `left` have this thread's elements of matrices with 16 rows.
  void addColumns(std::vector<Sums> &sums, ArrayRef<Left> left,
                  const SharedMatrix &matrix, int64_t row) {
    for (auto [group, own] : llvm::enumerate(sums))
      own = product.add(own, left,
                        product.rightFromColumns(
                            matrix, int64_t(group) * WarpProduct::columns, row,
                            int64_t(left.size()) * WarpProduct::depth));
  }

  /// Appends all SSA values of `sums` to the flat list `values`.
  static void append(Values &values, ArrayRef<Sums> sums) {
    for (const Sums &own : sums)
      llvm::append_range(values, own);
  }
  /// Removes the first 4 · `count` SSA values from the flat list `values`.
  /// Returns them as `count` entries of four values.
  static std::vector<Sums> take(ValueRange &values, size_t count) {
    std::vector<Sums> sums;
    for (; sums.size() < count; values = values.drop_front(4))
      sums.emplace_back(values.take_front(4));
    return sums;
  }

  /// Right operands of two matrix products, in shared memory. In the kernel for
  /// the gradient of queries, they are tiles of keys and values. In the kernel
  /// for the gradients of keys and values, they are tiles of queries and output
  /// gradients, in spite of the names.
  const SharedMatrix ofKeys, ofValues;
  /// Left operands of the products leftOfKeys · ofKeysᵀ and leftOfValues ·
  /// ofValuesᵀ. In the kernel for the gradient of queries, they are queries and
  /// output gradients. In the kernel for the gradients of keys and values, they
  /// are keys and values. Each list has this thread's elements of 16 rows.
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
  /// Emits a loop over tiles of keys. Each iteration copies the keys and values
  /// of one tile to shared memory, and then runs the code of `body`. `body`
  /// takes the first key of the tile and the loop-carried values, and returns
  /// the next loop-carried values.
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

  /// Emits a loop over tiles of keys. The loop computes three numbers for each
  /// of this thread's two queries: the largest score `top`, `share` = 1 / Σ
  /// exp(score − top), and `mean` = Σ P · dP. P is the softmax weight of a key,
  /// and dP is its gradient.
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

  /// Emits the code that adds the terms of at most 16 keys to the totals in
  /// `softmax`, and to `sum` = Σ P · dP. P is exp(score − top), and dP is the
  /// gradient of the softmax weight. `part` has the scores and the dP of the
  /// keys. Each of the four threads that share a query sums over its own keys
  /// only.
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

  /// Emits a second loop over tiles of keys, and returns this thread's elements
  /// of the gradient of the queries. Call describeRows() before walkAgain():
  /// the loop reads `top`, `share` and `mean`.
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
  /// Emits `body`, the work on the tile of queries from number `first` on.
  /// Under a causal mask, the emitted code skips a tile if none of its queries
  /// may attend to a key of this block. `so` are the loop-carried values.
  /// Returns the next loop-carried values.
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

  /// Emits the addition of one tile of queries to the gradients of keys
  /// (`ofKey`) and values (`ofValue`). The tile begins at query number `first`.
  /// Query numbers count through all query heads that share the key head.
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
