//===- ColumnReductions.cpp - reductions of neighboring columns -----------===//

#include "passes/7-emit/kernel/ColumnReductions.h"
#include "passes/7-emit/kernel/RowReductions.h"

using namespace mlir;
using namespace pcc;
using namespace pcc::emit;

namespace {
/// Reduction over the columns of a tensor. It gives one value per column.
struct ColumnStatistic {
  graph::ReduceOp op;
  /// Number, from 0, of the pass that computes this reduction. A pass is a loop
  /// over all elements. Each reduction has a later pass than the reductions on
  /// which it depends.
  int pass;
  Type type;
  /// Pointer to a stack buffer with `plan.width` partial results of this
  /// reduction, one per column.
  Value buffer;
};

/// Result of the kernel, with the pointer to its memory. `pass` is the number
/// of the first pass (loop over all elements) that can compute its elements.
struct Output {
  Value result, pointer;
  int pass;
};

/// Emits one unit of work of a kernel that reduces columns. A unit covers
/// `plan.width` neighboring columns. Its code consists of passes, which are
/// loops over all elements of these columns. The innermost loop of a pass steps
/// from one column to the next, since neighboring columns are contiguous.
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

  /// Emits all passes (loops over all elements of the columns). Then emits the
  /// stores of the results with one element per column. `iteration` is the
  /// number of the group of columns.
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
  /// Adds the reduction `op` to `statistics`. Emits the allocation of a stack
  /// buffer for its partial results, one per column.
  void addStatistic(graph::ReduceOp op) {
    ColumnStatistic one{op, passOf(op.getInput()), {}, {}};
    one.type = computeType(graph::tensorType(op.getInput()).getElementType());
    one.buffer = w.allocate(one.type, plan.width);
    statistics.push_back(one);
  }

  /// Returns the number of the first pass (loop over all elements) that can
  /// compute elements of `value`. The result of a reduction is known one pass
  /// after its operand. Example:
  ///
  ///   x                pass 0
  ///   s = sum x        pass 1
  ///   y = exp(x - s)   pass 1
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

  /// Sets [first, end) to the columns of group number `iteration`. The last
  /// group may have fewer than `plan.width` columns. Sets the indices in
  /// `w.outer`, except for the last one, which overColumns() will set to the
  /// column.
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

  /// Emits a loop that runs `body` for each column in [first, end). The last
  /// index of `w.outer` is the column.
  void overColumns(llvm::function_ref<void()> body) {
    w.loop(first, end, w.rows.shape.back(), {},
           [&](const Index &column, ValueRange) {
             w.outer.back() = column;
             body();
             return SmallVector<Value>();
           });
  }

  /// Returns the index of the current column within its group of `plan.width`
  /// columns. This is its index in a stack buffer.
  Index lane() {
    return w.indices.add(w.outer.back(), w.indices.scale(firstColumn, -1));
  }
  Value load(const ColumnStatistic &one) {
    return w.load(one.buffer, one.type, lane());
  }
  void store(const ColumnStatistic &one, Value value) {
    w.store(one.buffer, one.type, lane(), value);
  }

  /// Emits loads of the current column's reduction results from stack buffers.
  /// Stores the SSA values in `w.statistics`. Includes only the reductions that
  /// a pass (loop over all elements) before `pass` has computed.
  void bind(int pass) {
    for (const ColumnStatistic &one : statistics)
      if (one.pass < pass)
        w.statistics[one.op] = {load(one)};
  }

  /// Emits pass number `pass`, a loop over all elements of the columns. The
  /// pass computes its reductions, from initial to final values. The loop also
  /// stores the results of this pass that have one element per operand element.
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

  /// Returns the multi-index of the element of `result` that belongs to the
  /// current column. `result` has one element per column.
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
  /// Index of the first column in the group of neighboring columns that one
  /// unit of work reduces.
  Index firstColumn;
  /// Range [first, end) of the columns that one unit of work reduces, as i64
  /// values.
  Value first, end;
};
} // namespace

void pcc::emit::writeColumns(KernelWriter &w, rank::KernelOp kernel,
                             const KernelPlan &plan, ArrayRef<Value> outputs,
                             const Index &iteration) {
  ColumnWriter(w, kernel, plan, outputs).write(iteration);
}
