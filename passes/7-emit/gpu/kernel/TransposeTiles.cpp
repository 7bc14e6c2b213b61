//===- TransposeTiles.cpp - transposes through shared memory --------------===//

#include "passes/7-emit/gpu/kernel/TransposeTiles.h"
#include "dialects/graph/GraphDialect.h"
#include "passes/7-emit/gpu/kernel/SharedMemory.h"

using namespace mlir;
using namespace pcc;
using namespace pcc::emit;

namespace {
/// A transpose whose operand the block reads ahead.
struct TransposedOperand {
  Value operand;
  ArrayRef<int64_t> perm;
  Type element;
  Value memory;

  /// Where the operand's element for `at` of the result is.
  MultiIndex operandPlace(ArrayRef<Index> at) const {
    MultiIndex place(at.size());
    for (auto [dim, from] : llvm::enumerate(perm))
      place[from] = at[dim];
    return place;
  }
};

class TileWriter {
public:
  TileWriter(KernelWriter &w, rank::KernelOp kernel, const GpuPlan &plan,
             const Index &block, const Index &thread)
      : w(w), plan(plan), shape(plan.loops.shape) {
    for (auto op : kernel.getBody().front().getOps<graph::TransposeOp>())
      if (transposedDimOf(op, shape) == plan.transposedDim) {
        Type element = graph::tensorType(op.getInput()).getElementType();
        transposed.push_back(
            {op.getInput(), op.getPerm(), element,
             allocateShared(w, element, tileSize * tilePitch)});
      }
    x = w.indices.remainder(thread, tileSize);
    y = w.indices.quotient(thread, tileSize);
    enter(block);
  }

  void read() {
    overTile([&](const Index &row) { return elementAt(x, row); },
             [&](ArrayRef<Index> at, const Index &row) {
               for (const TransposedOperand &one : transposed)
                 w.store(one.memory, one.element, cell(row, x),
                         w.read(one.operand, one.operandPlace(at)));
             });
  }

  void write(rank::KernelOp kernel, ArrayRef<Value> outputs) {
    overTile([&](const Index &row) { return elementAt(row, x); },
             [&](ArrayRef<Index> at, const Index &row) {
               for (const TransposedOperand &one : transposed)
                 w.remember(one.operand, one.operandPlace(at),
                            w.load(one.memory, one.element, cell(x, row)));
               for (auto [result, output] :
                    llvm::zip_equal(kernel.getYield().getResults(), outputs))
                 w.storeResult(result, output, at);
             });
  }

private:
  /// The tile of `block`: where it begins, and the other dims' indices.
  void enter(const Index &block) {
    SmallVector<int64_t> counts(shape);
    for (int64_t dim : {plan.transposedDim, last()})
      counts[dim] = llvm::divideCeil(shape[dim], tileSize);
    start = w.indices.delinearise(block, counts);
    for (int64_t dim : {plan.transposedDim, last()})
      start[dim] = w.indices.scale(start[dim], tileSize);
  }

  int64_t last() const { return int64_t(shape.size()) - 1; }

  /// The element `transposedOffset` and `lastOffset` behind the tile's first.
  MultiIndex elementAt(const Index &transposedOffset, const Index &lastOffset) {
    MultiIndex at = start;
    at[plan.transposedDim] =
        w.indices.add(at[plan.transposedDim], transposedOffset);
    at[last()] = w.indices.add(at[last()], lastOffset);
    return at;
  }

  Index cell(const Index &row, const Index &column) {
    return w.indices.add(w.indices.scale(row, tilePitch), column);
  }

  /// For each of this thread's rows of the tile: `body` where its element is
  /// one of the result's.
  void overTile(llvm::function_ref<MultiIndex(const Index &)> placeOf,
                llvm::function_ref<void(ArrayRef<Index>, const Index &)> body) {
    const int64_t rowsAtOnce = plan.threads / tileSize;
    for (int64_t first = 0; first < tileSize; first += rowsAtOnce) {
      const Index row = w.indices.add(y, IndexSpace::constant(first));
      MultiIndex at = placeOf(row);
      Value isThere = boundsOf(at);
      if (!isThere) {
        body(at, row);
        continue;
      }
      w.branch(isThere, ValueRange(), [&] {
        body(at, row);
        return SmallVector<Value>();
      });
    }
  }

  /// Whether `at` is within the shape, and indices that say so; null if it is
  /// for sure.
  Value boundsOf(MultiIndex &at) {
    Value all;
    for (int64_t dim : {plan.transposedDim, last()}) {
      if (shape[dim] % tileSize == 0)
        continue;
      Value index = w.materialise(at[dim]);
      ScalarBuilder s = w.scalar();
      Value isBelow = s.compare(arith::CmpIPredicate::slt, index,
                                s.integer(w.builder.getI64Type(), shape[dim]));
      all = all ? s.both(all, isBelow) : isBelow;
      at[dim] = w.indices.leaf(index, 0, shape[dim] - 1);
    }
    return all;
  }

  KernelWriter &w;
  const GpuPlan &plan;
  ArrayRef<int64_t> shape;
  SmallVector<TransposedOperand> transposed;
  /// This thread's place in the tile's first rows.
  Index x, y;
  MultiIndex start;
};
} // namespace

void pcc::emit::writeTransposeTiles(KernelWriter &w, rank::KernelOp kernel,
                                    const GpuPlan &plan,
                                    ArrayRef<Value> outputs, const Index &block,
                                    const Index &thread) {
  TileWriter tile(w, kernel, plan, block, thread);
  tile.read();
  syncThreads(w);
  tile.write(kernel, outputs);
}
