//===- ColumnReductions.cpp - reductions of neighbouring columns ----------===//

#include "passes/7-emit/kernel/ColumnReductions.h"
#include "passes/7-emit/kernel/RowReductions.h"

using namespace mlir;
using namespace pcc;
using namespace pcc::emit;

namespace {
/// One reduction of the kernel. Its values, one per column, are accumulated in
/// a stack buffer.
struct ColumnStatistic {
  graph::ReduceOp op;
  /// Number, from 0, of the pass (loop over all elements of the columns) that
  /// computes the reduction. A reduction that depends on another reduction has
  /// a larger number.
  int pass;
  Type type;
  /// Pointer to the stack buffer with the values of the reduction so far: one
  /// value for each of the `plan.width` columns.
  Value buffer;
};

/// Result of the kernel, with the pointer to its tensor. `pass` is the number
/// of the first pass (loop over all elements of the columns) in which elements
/// of the result can be computed.
struct Output {
  Value result, pointer;
  int pass;
};

/// Emits one outer iteration (unit of work) of a kernel that reduces columns:
/// all passes over `plan.width` neighbouring columns. A pass is a loop nest
/// over all elements of these columns. Its outer loop runs along the columns,
/// its inner loop from column to column.
class ColumnWriter {
public:
  ColumnWriter(KernelWriter &w, rank::KernelOp kernel, const KernelPlan &plan,
               ArrayRef<Value> outputs)
      : w(w), plan(plan) {
    w.rows = *plan.rows;
    for (Operation &op : kernel.getBody().front().without_terminator())
      if (auto reduce = dyn_cast<graph::ReduceOp>(op))
        addStatistic(reduce);
    for (auto [result, pointer] :
         llvm::zip_equal(kernel.getYield().getResults(), outputs))
      (isPerElement(result, w.rows) ? perElement : perColumn)
          .push_back({result, pointer, passOf(result)});
  }

  /// Emits all passes (loops over all elements of the columns), then the stores
  /// of those results that have one element per column.
  void write(const Index &iteration) {
    enter(iteration);
    int numPasses = 0;
    for (const ColumnStatistic &one : statistics)
      numPasses = std::max(numPasses, one.pass + 1);
    for (const Output &one : perElement)
      numPasses = std::max(numPasses, one.pass + 1);
    for (int pass = 0; pass < numPasses; ++pass)
      writePass(pass);
    overColumns([&] {
      bind(numPasses);
      for (const Output &one : perColumn)
        w.storeResult(one.result, one.pointer, placeOf(one.result));
    });
  }

private:
  /// Adds the reduction `op` to `statistics`, and emits the allocation of its
  /// stack buffer.
  void addStatistic(graph::ReduceOp op) {
    ColumnStatistic one{op, passOf(op.getInput()), {}, {}};
    one.type = computeType(graph::tensorType(op.getInput()).getElementType());
    one.buffer = w.allocate(one.type, plan.width);
    statistics.push_back(one);
  }

  /// Returns the number of the first pass (loop over all elements of the
  /// columns) in which elements of `value` can be computed. The result of a
  /// reduction is known one pass later than its operand.
  int passOf(Value value) {
    Operation *op = value.getDefiningOp();
    if (!op)
      return 0;
    auto [found, isNew] = passes.try_emplace(op, 0);
    if (!isNew)
      return found->second;
    int pass = 0;
    for (Value operand : op->getOperands())
      pass = std::max(pass, passOf(operand));
    if (isa<graph::ReduceOp>(op))
      ++pass;
    return passes[op] = pass;
  }

  /// Sets `first` and `end` to the range of columns that outer iteration (unit
  /// of work) number `iteration` reduces. The last range is smaller if the
  /// number of columns is no multiple of `plan.width`. Sets the indices in
  /// `w.outer`, except for the last one, which overColumns() sets.
  void enter(const Index &iteration) {
    const int64_t size = w.rows.shape.back();
    SmallVector<int64_t> tiles = w.rows.outerShape();
    tiles.back() = llvm::divideCeil(size, plan.width);
    w.outer = w.indices.delinearise(iteration, tiles);
    firstColumn = w.indices.scale(w.outer.back(), plan.width);
    first = w.materialise(firstColumn);
    end = w.materialise(
        w.indices.add(firstColumn, IndexSpace::constant(plan.width)));
    if (size % plan.width != 0)
      end = w.scalar().smaller(end,
                               w.scalar().integer(w.builder.getI64Type(), size),
                               /*isUnsigned=*/false);
  }

  /// Emits a loop that runs `body` for each column in the range [first, end),
  /// with `w.outer` set to the indices of the column.
  void overColumns(llvm::function_ref<void()> body) {
    w.loop(first, end, w.rows.shape.back(), {},
           [&](const Index &column, ValueRange) {
             w.outer.back() = column;
             body();
             return SmallVector<Value>();
           });
  }

  /// Returns the index of the current column in the stack buffers: its distance
  /// from the first of the columns that are reduced side by side.
  Index lane() {
    return w.indices.add(w.outer.back(), w.indices.scale(firstColumn, -1));
  }
  Value load(const ColumnStatistic &one) {
    return w.load(one.buffer, one.type, lane());
  }
  void store(const ColumnStatistic &one, Value value) {
    w.store(one.buffer, one.type, lane(), value);
  }

  /// Emits, for the current column, loads of the reduction results that passes
  /// before pass number `pass` have computed. Stores the SSA values in
  /// `w.statistics`.
  void bind(int pass) {
    for (const ColumnStatistic &one : statistics)
      if (one.pass < pass)
        w.statistics[one.op] = {load(one)};
  }

  /// Emits pass number `pass`: one loop over all elements of the columns. Emits
  /// the initial values of the pass's reductions before the loop, and their
  /// final values after it. Within the loop, stores the results of this pass
  /// that have one element for each element of the columns.
  void writePass(int pass) {
    auto ofPass = [&](llvm::function_ref<void(const ColumnStatistic &)> write) {
      for (const ColumnStatistic &one : statistics)
        if (one.pass == pass)
          write(one);
    };
    overColumns([&] {
      ofPass([&](const ColumnStatistic &one) {
        store(one, initialValueOf(w, one.op));
      });
    });
    w.overRow([&](ArrayRef<Index> inner) {
      overColumns([&] {
        bind(pass);
        const MultiIndex at = w.rowPlace(inner);
        ofPass([&](const ColumnStatistic &one) {
          graph::ReduceOp op = one.op;
          Value element = w.read(op.getInput(), at);
          store(one, combine(w, op, load(one), element));
        });
        for (const Output &one : perElement)
          if (one.pass == pass)
            w.storeResult(one.result, one.pointer, at);
      });
    });
    overColumns([&] {
      ofPass([&](const ColumnStatistic &one) {
        store(one, finish(w, one.op, load(one)));
      });
    });
  }

  /// Returns the multi-index, in `result`, of the element for the current
  /// column. `result` must have one element per column.
  MultiIndex placeOf(Value result) {
    return w.indices.delinearise(
        w.indices.linearise(w.outer, w.rows.outerShape()),
        graph::tensorType(result).getShape());
  }

  KernelWriter &w;
  const KernelPlan &plan;
  SmallVector<ColumnStatistic> statistics;
  SmallVector<Output> perElement, perColumn;
  llvm::DenseMap<Operation *, int> passes;
  /// Index, along the last dim, of the first of the columns that are reduced
  /// side by side.
  Index firstColumn;
  /// SSA values (i64) of the range [first, end) of columns that are reduced
  /// side by side.
  Value first, end;
};
} // namespace

void pcc::emit::writeColumns(KernelWriter &w, rank::KernelOp kernel,
                             const KernelPlan &plan, ArrayRef<Value> outputs,
                             const Index &iteration) {
  ColumnWriter(w, kernel, plan, outputs).write(iteration);
}
