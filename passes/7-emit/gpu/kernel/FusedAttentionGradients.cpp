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
/// Base class of the kernels for the gradients of queries, keys and values. A
/// block processes a tile in shared memory in chunks of 16 rows, which limits
/// the number of registers.
class GradientTile : protected AttentionTile {
protected:
  /// Number of rows of a tile in shared memory that threads process at once.
  /// One tensor core instruction on bf16 or f16 contracts 16 elements.
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

  /// Three matrices that a warp computes from a chunk. A chunk is up to 16 rows
  /// of the tiles in shared memory. Each matrix has 16 rows. Each matrix also
  /// has one column for each row of the chunk. Each element of a matrix belongs
  /// to one query and one key.
  ///
  ///   scores     attention scores: dot products of queries and keys,
  ///              after scale, softcap and mask
  ///   slopes     derivatives of the scores by the dot products
  ///   products   gradients dP of the softmax weights
  ///
  /// Each list has only the elements that this thread holds. Entry 0 has four
  /// elements in columns 0 to 7. Entry 1 has four elements in columns 8 to 15.
  struct ChunkProducts {
    std::vector<Sums> scores, slopes, products;
  };

  /// Returns zeros, from which a sum of matrix products starts. The sum is a
  /// matrix with 16 rows and `size` columns. A warp computes the sum. Entry i
  /// of the list has this thread's four elements in columns 8 i to 8 i + 7.
  std::vector<Sums> zeros(int64_t size) {
    return std::vector<Sums>(llvm::divideCeil(size, WarpProduct::columns),
                             product.zeros());
  }

  /// Emits three matrices, the fields of ChunkProducts: the attention scores,
  /// the derivatives of the scores, and the gradients of the softmax weights. A
  /// warp computes these matrices. Each element belongs to one query and one
  /// key:
  ///
  ///   kernel                        rows of a matrix   columns of a matrix
  ///   gradient of queries           queries            keys
  ///   gradient of keys and values   keys               queries
  ///
  /// A matrix has 16 rows and up to 16 columns. The columns belong to rows of
  /// the tiles in shared memory, from row `column` on. `first` is the number of
  /// the key or query in row 0 of the tiles. Returns the elements of the
  /// matrices that this thread computes.
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

  /// Emits sums + left · M, and stores the result in `sums`. A warp computes
  /// this sum, a matrix with 16 rows. The matrix M consists of rows of `matrix`
  /// in shared memory, from row `row` on. M has as many rows as `left` has
  /// columns: at most 16.
  ///
  /// `sums` and `left` have only the elements that this thread holds. Entry i
  /// of `sums` has four elements in columns 8 i to 8 i + 7. Entry i of `left`
  /// also has four elements in columns 8 i to 8 i + 7.
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

  /// Tiles in shared memory over which the block loops:
  ///
  ///   kernel                ofKeys    ofValues
  ///   gradient of queries   keys      values
  ///   gradient of keys      queries   gradients of the attention's result
  const SharedMatrix ofKeys, ofValues;
  /// This thread's two rows of the tile that the block owns. The rows are left
  /// operands of two matrix products. The right operands are the tiles `ofKeys`
  /// and `ofValues` in shared memory, transposed:
  ///
  ///   - `leftOfKeys` · `ofKeys`ᵀ contains the dot products of queries and
  ///     keys.
  ///   - `leftOfValues` · `ofValues`ᵀ contains the gradients of the softmax
  ///     weights.
  ///
  ///   kernel                leftOfKeys   leftOfValues
  ///   gradient of queries   queries      gradients of the attention's result
  ///   gradient of keys      keys         values
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
  /// Emits a loop over the tiles of keys. Each iteration loads keys and values
  /// into shared memory, then runs `body`. `start` are the initial loop-carried
  /// values. Returns their final values.
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

  /// Emits the first loop over the keys, which computes three numbers for each
  /// of the thread's two queries:
  ///
  ///   top     largest score
  ///   share   1 / Σ P, where P = exp(score − top) is the weight of a key
  ///   mean    Σ P · dP / Σ P, where dP is the gradient of P
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

  /// Emits the code that adds the next keys, at most 16, to `softmax` and
  /// `sum`. `softmax` and `sum` describe the keys that were added before. Both
  /// have values for each of this thread's two queries:
  ///
  ///   softmax   largest score `top`, and sum of the weights P:
  ///             P = exp(score − top)
  ///   sum       Σ P · dP, where dP is the gradient of the softmax weight
  ///
  /// The two sums contain only the scores that this thread computes. `part` has
  /// the scores and dP of the new keys. If a new score is larger than `top`,
  /// the old sums are multiplied by `exp(old top − new top)`.
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

  /// Emits a second loop over the keys, after the loop of describeRows().
  /// Returns this thread's elements of the gradient of the queries. The loop
  /// computes dQ = dS K, where dS is the gradient of the dot products Q Kᵀ.
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
