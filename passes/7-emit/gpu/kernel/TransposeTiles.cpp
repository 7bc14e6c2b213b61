//===- TransposeTiles.cpp - transposes by tiles in shared memory ----------===//

#include "passes/7-emit/gpu/kernel/TransposeTiles.h"
#include "dialects/graph/GraphDialect.h"
#include "passes/7-emit/gpu/kernel/SharedMemory.h"

using namespace mlir;
using namespace pcc;
using namespace pcc::emit;

namespace {
/// Operand of a transpose in the kernel. Each block reads a tile of the operand
/// through shared memory.
struct TransposedOperand {
  Value operand;
  /// Permutation of the transpose: dim i of the result is dim perm[i] of the
  /// operand.
  ArrayRef<int64_t> perm;
  Type element;
  /// Pointer to the operand's tile in shared memory.
  Value memory;

  /// Returns the multi-index, in the operand, of the element that the transpose
  /// puts at multi-index `at` of its result.
  MultiIndex operandPlace(ArrayRef<Index> at) const {
    MultiIndex place(at.size());
    for (auto [dim, from] : llvm::enumerate(perm))
      place[from] = at[dim];
    return place;
  }
};

/// Emits one kernel that transposes operands. A block computes one tile of 32 x
/// 32 elements of the results. The threads of the block form rows of 32
/// threads.
class TileWriter {
public:
  /// Allocates a tile in shared memory for each transposed operand of `kernel`.
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

  /// Emits the loads of one tile of each transposed operand into shared memory.
  /// Neighboring threads read elements that are neighbors along the
  /// transposed dim, in which the operands are contiguous.
  void read() {
    overTile([&](const Index &row) { return elementAt(x, row); },
             [&](ArrayRef<Index> at, const Index &row) {
               for (const TransposedOperand &one : transposed)
                 w.store(one.memory, one.element, cell(row, x),
                         w.read(one.operand, one.operandPlace(at)));
             });
  }

  /// Emits the computation and the stores of one tile of the results.
  /// Neighboring threads store elements that are neighbors along the last
  /// dim, in which the results are contiguous.
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
  /// Sets `start` to the multi-index of the first element of the tile that
  /// `block` computes.
  void enter(const Index &block) {
    SmallVector<int64_t> counts(shape);
    for (int64_t dim : {plan.transposedDim, last()})
      counts[dim] = llvm::divideCeil(shape[dim], tileSize);
    start = w.indices.delinearise(block, counts);
    for (int64_t dim : {plan.transposedDim, last()})
      start[dim] = w.indices.scale(start[dim], tileSize);
  }

  /// Returns the index of the last dim of the results.
  int64_t last() const { return int64_t(shape.size()) - 1; }

  /// Returns the multi-index, in the results, of an element of the block's
  /// tile. The two offsets are its distances from the first element of the
  /// tile: `transposedOffset` along the transposed dim, `lastOffset` along the
  /// last dim.
  MultiIndex elementAt(const Index &transposedOffset, const Index &lastOffset) {
    MultiIndex at = start;
    at[plan.transposedDim] =
        w.indices.add(at[plan.transposedDim], transposedOffset);
    at[last()] = w.indices.add(at[last()], lastOffset);
    return at;
  }

  /// Returns the offset of an element of a tile in shared memory, in elements
  /// from the start of the tile.
  Index cell(const Index &row, const Index &column) {
    return w.indices.add(w.indices.scale(row, tilePitch), column);
  }

  /// Emits `body` for each element of the tile that this thread computes. A
  /// block has fewer rows of threads than the tile has rows. So each thread has
  /// elements in several rows of the tile, one per row. `placeOf` maps the
  /// index of a row to the multi-index of this thread's element. Skips elements
  /// that lie outside of the results.
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

  /// Emits an i1: whether the multi-index `at` lies within the results. Returns
  /// null if `at` always does. Also replaces the indices of `at` by indices
  /// with the same values, but with known bounds within the results.
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
  /// The threads of a block form rows of 32 threads. `x` is the index of this
  /// thread in its row of threads, and `y` the index of that row in the block.
  Index x, y;
  /// Multi-index, in the results, of the first element of the block's tile.
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
