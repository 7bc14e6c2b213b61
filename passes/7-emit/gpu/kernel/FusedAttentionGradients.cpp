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
/// Base class of the two classes that emit attention gradient kernels. One
/// kernel computes the gradient of the queries. In this kernel, each block of
/// threads loops over tiles of keys. The other kernel computes the gradients of
/// the keys and values. In this kernel, each block loops over tiles of queries.
/// A tile consists of neighboring keys or queries, such as keys 64 to 127.
///
/// Each warp processes at most 16 keys or queries of a tile at once. More keys
/// or queries at once would need more registers, since the threads keep the
/// attention scores of these keys or queries in registers.
class GradientTile : protected AttentionTile {
protected:
  /// Largest number of rows of a tile that a warp processes at once: 16. A tile
  /// is a matrix in shared memory. Each row of the tile is one vector, such as
  /// a key.
  ///
  /// The kernels compute matrix products that are sums over these rows.
  /// Example: the gradient of the queries is a sum over keys. One tensor core
  /// instruction on bf16 or f16 sums over 16 rows.
  static constexpr int64_t chunk = 2 * WarpProduct::depth;

  /// Allocates two tiles in shared memory, `ofKeys` and `ofValues`. The kernel
  /// loads the following vectors into the tiles:
  ///
  ///   kernel                        ofKeys    ofValues
  ///   gradient of queries           keys      values
  ///   gradient of keys and values   queries   gradients of the
  ///                                           attention's result
  ///
  /// `op` is the attention gradient op. `block` is the index of the current
  /// block, and `thread` is the index of the current thread in its block. `w`
  /// writes the kernel.
  GradientTile(KernelWriter &w, Operation *op, const Index &block,
               const Index &thread)
      : AttentionTile(w, cast<graph::AttentionOpInterface>(op), block, thread),
        ofKeys(allocate(plan.pitchOfRows(plan.depth))),
        ofValues(allocate(plan.pitchOfRows(plan.width))) {}

  /// Three matrices that a warp computes at once, with one element for each
  /// query and each key. The 16 rows are queries, and the columns are at most
  /// 16 keys. In the kernel for the gradient of keys and values, rows are keys
  /// and columns are queries. Each list has only this thread's elements, four
  /// for each 8 columns.
  ///
  ///   scores     attention scores, after scale, softcap and mask
  ///   slopes     derivatives of the scores by the dot products
  ///   products   gradients dP of the softmax weights
  struct ChunkProducts {
    std::vector<Sums> scores, slopes, products;
  };

  /// Returns a matrix of zeros with 16 rows and `size` columns. The matrix is
  /// distributed over the threads of a warp. The returned list has only the
  /// elements that this thread holds. The list has one entry for each group of
  /// 8 columns. An entry consists of four elements in these 8 columns. Example:
  /// for `size` 64, the list has 8 entries.
  ///
  /// The caller adds matrix products to the returned matrix.
  std::vector<Sums> zeros(int64_t size) {
    return std::vector<Sums>(llvm::divideCeil(size, WarpProduct::columns),
                             product.zeros());
  }

  /// Emits code in which a warp computes the three matrices of ChunkProducts.
  /// Returns the elements that this thread computes. The rows are the warp's 16
  /// queries. The columns are 16 keys, or 8 keys if a tile has only 8. Column j
  /// belongs to key `first` + `column` + j, where `first` is the first key of
  /// the tile in shared memory. In the kernel for the gradient of keys and
  /// values, the rows are keys and the columns are queries. Queries are
  /// numbered over all query heads that share a key head, one head after
  /// another.
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

  /// Emits slope · P · (dP − mean), the gradient of the dot product of one
  /// query and one key:
  ///
  ///   slope     derivative of the attention score by the dot product
  ///   weight    P, the softmax weight
  ///   product   dP, the gradient of the softmax weight
  ///   mean      Σ P · dP over all keys of the query
  Value centred(Value weight, Value product, Value mean, Value slope) {
    ScalarBuilder s = w.scalar();
    return s.mul(s.mul(weight, s.sub(product, mean)), slope);
  }

  /// Emits code in which a warp computes sums + left · M, and stores the result
  /// in `sums`. The lists `sums` and `left` have only the elements of this
  /// thread: entry i has four elements in columns 8 i to 8 i + 7.
  ///
  ///   sums   16 rows, n columns
  ///   left   16 rows, k columns, where k is 8 or 16
  ///   M      k rows of `matrix` in shared memory, from row `row` on
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

  /// Two matrices in shared memory, the right operands of two matrix products.
  /// Each row is one vector. The names fit only the gradient of queries:
  ///
  ///   kernel                        rows of ofKeys   rows of ofValues
  ///   gradient of queries           keys             values
  ///   gradient of keys and values   queries          gradients of the
  ///                                                  attention's result
  const SharedMatrix ofKeys, ofValues;
  /// Left operands of the matrix products leftOfKeys · ofKeysᵀ (dot products of
  /// queries and keys) and leftOfValues · ofValuesᵀ (gradients of the softmax
  /// weights). Each operand has 16 rows. This thread holds elements of two of
  /// them.
  ///
  ///   kernel                        leftOfKeys   leftOfValues
  ///   gradient of queries           queries      gradients of the
  ///                                              attention's result
  ///   gradient of keys and values   keys         values
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
  /// Emits a loop over the tiles of keys. Each iteration copies the keys of one
  /// tile, and the values that belong to these keys, to shared memory. The
  /// iteration then executes the code that `body` emits.
  ///
  /// `body` has two parameters: the index of the first key of the tile, and the
  /// loop-carried values before the iteration. `body` returns the loop-carried
  /// values after the iteration. `start` are the loop-carried values before the
  /// first iteration. overKeys() returns the loop-carried values after the last
  /// iteration.
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

  /// Emits a loop over the tiles of keys. The loop computes three numbers for
  /// each of the thread's two queries:
  ///
  ///   top     largest attention score of the query
  ///   share   1 / Σ exp(score − top) over all keys
  ///   mean    Σ P · dP over all keys, where P = exp(score − top) · share is
  ///           the softmax weight of a key, and dP is the gradient of P
  ///
  /// Stores the three numbers in the members `top`, `share` and `mean`. Each
  /// member has two entries, one for each query.
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

  /// Emits code that adds at most 16 keys to `softmax` and `sum`. `part` has
  /// the scores and dP of these keys. Each number exists for each of this
  /// thread's two queries. Four threads share a query, and each has the sums of
  /// its own keys only. If a score exceeds `softmax.top`, the code first
  /// rescales the old sums.
  ///
  ///   softmax.top     largest attention score of the query so far
  ///   softmax.total   Σ P over keys, where P = exp(score − top)
  ///   sum             Σ P · dP, where dP is the gradient of the softmax weight
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

  /// Emits a loop over the tiles of keys. The loop computes the gradient of the
  /// queries, dQ = dS K. In this matrix product, each row of K is a key. dS is
  /// the gradient of the matrix of dot products Q Kᵀ, where each row of Q is a
  /// query.
  ///
  /// Returns the elements of dQ that this thread holds. Each entry of the
  /// returned list has four elements, in 8 neighboring columns of dQ.
  ///
  /// The emitted loop uses the numbers `top`, `share` and `mean` of each query.
  /// The caller must call describeRows() first, which computes these numbers.
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
  /// Emits `body`, which processes one tile of queries. Under a causal mask,
  /// emits a branch around `body`. The branch skips `body` if no query of the
  /// tile may attend to a key of the block. `so` are the values that the loop
  /// over tiles of queries carries into this iteration. Returns the values for
  /// the next iteration: the results of `body`, or `so` if the branch skips
  /// `body`.
  ///
  /// The tile begins at query number `first`. The queries of all query heads
  /// that share a key head are numbered from 0, one head after another.
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

  /// Emits the contribution of one tile of queries to the gradients of keys and
  /// values. Adds the contribution to `ofKey` and `ofValue`. `ofKey` has this
  /// thread's elements of the gradient of keys. `ofValue` has this thread's
  /// elements of the gradient of values.
  ///
  /// The tile begins at query number `first`. The queries of all query heads
  /// that share a key head are numbered from 0, one head after another.
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
