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

  /// Emits the whole kernel: a loop over tiles of keys, as in FlashAttention,
  /// and then the stores of `result` through the pointers `outputs`.
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
    /// Largest score of each of this thread's two queries, and sum of the
    /// weights exp(score − largest score). Each sum covers only this thread's
    /// quarter of the scores of the query.
    OnlineSoftmax softmax;
    /// Sums of value vectors, weighted by exp(score − largest score). Entry i
    /// has this thread's elements in columns 8 i to 8 i + 7, for the warp's 16
    /// queries.
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

  /// Emits the scores of the warp's 16 queries with 8 keys. The first of these
  /// keys is `firstKey` + `column`, where `firstKey` is the first key of the
  /// tile in shared memory. Returns this thread's four scores.
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
