//===- FusedAttention.cpp - FlashAttention as one GPU kernel --------------===//
//
// FlashAttention (Dao et al. 2022, arXiv 2205.14135). A block loops over tiles
// of keys. The weights of a tile are relative to m, the largest score so far.
// If a tile has a larger score m', the sums so far are rescaled (online
// softmax):
//
//   for each tile of keys:  S = cap(scale · Q Kᵀ) + mask
//                           m' = max(m, rows of S),  P = exp(S − m')
//                           l = l exp(m − m') + Σ P,  O = O exp(m − m') + P V
//   result:                 O / l
//
//===----------------------------------------------------------------------===//

#include "passes/7-emit/gpu/kernel/FusedAttention.h"
#include "passes/7-emit/gpu/kernel/AttentionTile.h"
#include "passes/7-emit/gpu/kernel/OnlineSoftmax.h"
#include "passes/7-emit/gpu/kernel/SharedMemory.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace pcc;
using namespace pcc::emit;

namespace {
/// Emitter of graph.attention.
class AttentionWriter : AttentionTile {
public:
  AttentionWriter(KernelWriter &w, graph::AttentionOp op, const Index &block,
                  const Index &thread)
      : AttentionTile(w, cast<graph::AttentionOpInterface>(op.getOperation()),
                      block, thread),
        keys(allocate(plan.pitchOfRows(plan.depth))),
        values(allocate(plan.pitchOfColumns(plan.width))) {}

  /// Emits the whole kernel: a loop over the tiles of keys, and then the stores
  /// of the attention's result. For each query, the loop computes:
  ///
  ///   m   largest score
  ///   l   sum of the weights exp(score − m)
  ///   O   sum of the value vectors, each multiplied by the weight of its key
  ///
  /// The code after the loop stores O / l for each query, which is the
  /// attention's result. `result` is the MLIR value of the attention's result.
  /// `outputs` has a pointer for each value that the kernel returns. The kernel
  /// returns `result`, or a transpose or reshape of `result`.
  void write(Value result, ArrayRef<Value> outputs) {
    query = readRows(op.getQuery());
    auto tile = [&](const Index &number, ValueRange so) {
      return overTile(w.indices.scale(number, plan.otherTile),
                      Accumulator::from(so))
          .flat();
    };
    const Accumulator state = Accumulator::from(w.loop(
        w.scalar().integer(i64, 0), numSeenTiles(),
        llvm::divideCeil(plan.keys, plan.otherTile), start().flat(), tile));
    const Halves totals = sumOfRows(state.softmax.total);
    storeRows(result, state.sums,
              {inverseTotalOf(w, totals[0]), inverseTotalOf(w, totals[1])},
              outputs);
  }

private:
  /// Values that the loop over tiles of keys carries from one iteration to the
  /// next.
  struct Accumulator {
    /// Softmax state of the two queries for which this thread computes scores.
    /// For each query, the state has two numbers:
    ///
    ///   m   largest score of the query so far
    ///   l   sum of the weights exp(score − m) over the scores that this thread
    ///       has computed for the query so far
    ///
    /// Four threads share a query. Each thread computes a quarter of the
    /// scores.
    OnlineSoftmax softmax;
    /// Elements of the matrix O that this thread holds. Each of the 16 rows of
    /// O belongs to a query: the weighted sum of the value vectors of all keys
    /// so far. Entry i has these elements, where g = t / 4 and c = 2 (t % 4)
    /// for thread t of the warp:
    ///
    ///   elements 0 and 1   row g       columns 8 i + c and 8 i + c + 1
    ///   elements 2 and 3   row g + 8   columns 8 i + c and 8 i + c + 1
    std::vector<Sums> sums;

    Values flat() const {
      Values values = softmax.flat();
      for (const Sums &own : sums)
        llvm::append_range(values, own);
      return values;
    }
    static Accumulator from(ValueRange values) {
      Accumulator state{
          OnlineSoftmax::from(values.take_front(OnlineSoftmax::size)), {}};
      for (values = values.drop_front(OnlineSoftmax::size); !values.empty();
           values = values.drop_front(4))
        state.sums.emplace_back(values.take_front(4));
      return state;
    }
  };

  /// Returns the initial values of the loop over tiles of keys: the largest
  /// score m = −∞, the sum of weights l = 0, and the weighted sums O = 0.
  Accumulator start() {
    return {
        OnlineSoftmax::start(w),
        std::vector<Sums>(llvm::divideCeil(plan.width, WarpProduct::columns),
                          product.zeros())};
  }

  /// Emits the code of one iteration of the loop over tiles of keys. The code
  /// loads `plan.otherTile` keys and their values into shared memory, from key
  /// `firstKey` on. `state` holds the loop-carried values before the iteration.
  /// Returns the loop-carried values after the iteration.
  Accumulator overTile(const Index &firstKey, Accumulator state) {
    syncThreads(w); // all threads have read the previous tile
    fetch(op.getKey(), firstKey, keys);
    fetch(op.getValue(), firstKey, values);
    syncThreads(w);
    std::vector<Sums> scores;
    for (int64_t column = 0; column < plan.otherTile;
         column += WarpProduct::columns)
      scores.push_back(scoresAt(firstKey, column));
    const Halves scale = state.softmax.update(w, scores);
    std::vector<Left> weights;
    for (Sums &own : scores) {
      for (auto [place, value] : llvm::enumerate(own)) {
        value = weightOf(w, value, state.softmax.top[place / 2]);
        Value &total = state.softmax.total[place / 2];
        total = w.scalar().add(total, value);
      }
      weights.push_back(product.leftOf(own));
    }
    for (auto [group, sums] : llvm::enumerate(state.sums)) {
      for (auto [place, value] : llvm::enumerate(sums))
        value = w.scalar().mul(value, scale[place / 2]);
      sums = product.add(sums, weights,
                         product.rightFromColumns(
                             values, int64_t(group) * WarpProduct::columns, 0,
                             plan.otherTile));
    }
    return state;
  }

  /// Emits the attention scores that this thread computes. A warp computes the
  /// scores of 16 queries with 8 keys. `firstKey` is the first key of the tile
  /// in shared memory. The 8 keys begin at position `column` of this tile. The
  /// first of the 8 keys is thus key `firstKey` + `column`.
  ///
  /// The thread computes four of the scores: the scores of two queries with two
  /// neighboring keys. Example: thread 5 of the warp computes the scores of
  /// queries 1 and 9 with keys 2 and 3, counted from 0 in the 16 queries and 8
  /// keys.
  Sums scoresAt(const Index &firstKey, int64_t column) {
    Sums scores = product.add(
        product.zeros(), query,
        product.rightFromRows(keys, column,
                              int64_t(query.size()) * WarpProduct::depth));
    for (auto [place, value] : llvm::enumerate(scores))
      value = score(value, scorePlace(firstKey, column, int64_t(place))).value;
    return scores;
  }

  /// Tile of keys and tile of values in the block's shared memory.
  const SharedMatrix keys, values;
  /// Elements that this thread holds of the warp's 16 queries, the rows of Q in
  /// the matrix product Q Kᵀ. Entry i has these elements, where g = t / 4 and
  /// c = 2 (t % 4) for thread t of the warp:
  ///
  ///   top      row g       columns 8 i + c and 8 i + c + 1
  ///   bottom   row g + 8   columns 8 i + c and 8 i + c + 1
  std::vector<Left> query;
};
} // namespace

void pcc::emit::writeAttention(KernelWriter &w, graph::AttentionOp op,
                               ArrayRef<Value> outputs, const Index &block,
                               const Index &thread) {
  AttentionWriter(w, op, block, thread).write(op.getResult(), outputs);
}

void pcc::emit::writeFusedAttention(KernelWriter &w,
                                    graph::AttentionOpInterface op,
                                    ArrayRef<Value> outputs, const Index &block,
                                    const Index &thread) {
  llvm::TypeSwitch<Operation *>(op.getOperation())
      .Case([&](graph::AttentionOp own) {
        writeAttention(w, own, outputs, block, thread);
      })
      .Case([&](graph::AttentionQueryGradientOp own) {
        writeQueryGradient(w, own, outputs, block, thread);
      })
      .Case([&](graph::AttentionKeyGradientOp own) {
        writeKeyGradient(w, own, outputs, block, thread);
      });
}
