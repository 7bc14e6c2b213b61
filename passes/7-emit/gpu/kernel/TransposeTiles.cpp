//===- TransposeTiles.cpp - transposes by tiles in shared memory ----------===//

#include "passes/7-emit/gpu/kernel/TransposeTiles.h"
#include "dialects/graph/GraphDialect.h"
#include "passes/7-emit/gpu/kernel/SharedMemory.h"

using namespace mlir;
using namespace pcc;
using namespace pcc::emit;

namespace {
/// Operand of a transpose, read by each block through a tile in shared memory.
struct TransposedOperand {
  Value operand;
  /// Permutation: dim i of the result is dim perm[i] of the operand.
  ArrayRef<int64_t> perm;
  Type element;
  /// Pointer to a tile of `operand`, 32 x 32 elements, in shared memory.
  Value memory;

  /// Converts `at`, the multi-index of an element in the result of the
  /// transpose, to the multi-index of this element in the operand.
  MultiIndex operandPlace(ArrayRef<Index> at) const {
    MultiIndex place(at.size());
    for (auto [dim, from] : llvm::enumerate(perm))
      place[from] = at[dim];
    return place;
  }
};

/// Emits one kernel that transposes operands through shared memory. Each block
/// of the kernel computes a tile of 32 x 32 elements of the results. The 256
/// threads of a block form 8 rows of 32 threads. Example: threads 0 to 31 form
/// the first row. The threads of a row read neighboring elements of an operand,
/// and later store neighboring elements of a result.
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

  /// Emits the copy of one tile, 32 x 32 elements, of each transposed operand
  /// to shared memory. Neighboring threads read neighboring elements.
  void read() {
    overTile([&](const Index &row) { return elementAt(x, row); },
             [&](ArrayRef<Index> at, const Index &row) {
               for (const TransposedOperand &one : transposed)
                 w.store(one.memory, one.element, cell(row, x),
                         w.read(one.operand, one.operandPlace(at)));
             });
  }

  /// Emits the computation and the stores of one tile of the results.
  /// Neighboring threads store neighboring elements.
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
  /// Finds the tile of 32 x 32 result elements that block `block` computes.
  /// Sets `start` to the multi-index of the tile's first element.
  void enter(const Index &block) {
    SmallVector<int64_t> counts(shape);
    for (int64_t dim : {plan.transposedDim, last()})
      counts[dim] = llvm::divideCeil(shape[dim], tileSize);
    start = w.indices.delinearise(block, counts);
    for (int64_t dim : {plan.transposedDim, last()})
      start[dim] = w.indices.scale(start[dim], tileSize);
  }

  /// Returns the innermost dim of the kernel's results.
  int64_t last() const { return int64_t(shape.size()) - 1; }

  /// Returns the multi-index in the results of an element of this block's tile.
  /// The offsets in the tile are along dim `plan.transposedDim` and the last
  /// dim.
  MultiIndex elementAt(const Index &transposedOffset, const Index &lastOffset) {
    MultiIndex at = start;
    at[plan.transposedDim] =
        w.indices.add(at[plan.transposedDim], transposedOffset);
    at[last()] = w.indices.add(at[last()], lastOffset);
    return at;
  }

  /// Returns the position of the element in row `row` and column `column` of a
  /// tile in shared memory, counted in elements.
  Index cell(const Index &row, const Index &column) {
    return w.indices.add(w.indices.scale(row, tilePitch), column);
  }

  /// Emits `body` for each element that this thread processes in the tile of 32
  /// x 32 elements of its block. The thread has at most one element in a row of
  /// the tile. `placeOf` maps the index of the row to the multi-index of this
  /// element in the results. Skips elements beyond the end of the results.
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

  /// Emits a check whether the results have an element at `at`. Returns an i1,
  /// or null if no check is needed. Narrows the known ranges of the indices in
  /// `at`. Use `at` only in code that runs after a successful check.
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
  /// Position of this thread in its block. The threads of a block form rows of
  /// 32 threads. `x` is the index of the thread in its row. `y` is the index of
  /// the row in the block.
  Index x, y;
  /// Multi-index, in the kernel's results, of the first element of the tile
  /// that this block computes.
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
