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

  /// Emits the loop over the tiles of keys, then the stores of the result. The
  /// result is O divided by l:
  ///
  ///   m   largest score
  ///   l   sum of the weights exp(score − m)
  ///   O   sum of the values, multiplied by these weights
  ///
  /// `outputs` are the pointers to the kernel's results.
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
    /// Softmax state of this thread's two rows: the largest score m and the sum
    /// of weights l of each row.
    OnlineSoftmax softmax;
    /// This thread's elements of O, the weighted sums of the attention's value
    /// vectors. Each entry covers eight columns of O.
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

  /// Returns the accumulator before the first tile: the largest score m is −∞,
  /// the sum of weights l and the weighted sums O are 0.
  Accumulator start() {
    return {
        OnlineSoftmax::start(w),
        std::vector<Sums>(llvm::divideCeil(plan.width, WarpProduct::columns),
                          product.zeros())};
  }

  /// Emits one iteration of the loop over tiles of keys. Loads the keys and
  /// values of the tile that begins at key `firstKey` into shared memory, and
  /// adds their contribution to `state`.
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

  /// Emits the scores of the thread's two queries with eight keys: keys
  /// `column` to `column` + 7, counted from the tile's first key, `firstKey`.
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
  /// This thread's elements of its two query rows, as the left operand of the
  /// product of queries and keys.
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
