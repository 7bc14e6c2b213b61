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
  /// Pointer to a stack buffer. A unit of work reduces several neighboring
  /// columns, and the buffer has one value per column. During a loop over the
  /// elements, the value combines the elements so far, such as their sum. After
  /// the loop, the value is the result of the reduction for the column.
  Value buffer;
};

/// Result of the kernel, with the pointer to its memory. The kernel reduces
/// columns of a tensor in numbered passes. A pass is a loop over all elements
/// of neighboring columns. `pass` is the number of the first pass that can
/// compute the elements of the result. Example: pass 0 computes the sum s of
/// each column of x. For the result x − s, `pass` is 1.
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

  /// Emits the code for group number `iteration` of neighboring columns. The
  /// code consists of passes (loops over all elements), and a loop that stores
  /// results with one element per column.
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
  /// Adds an entry for the reduction `op` to the list `statistics`. Emits the
  /// allocation of a stack buffer for this reduction. The buffer has one value
  /// per column. The value of a column is its partial result, such as the sum
  /// of the elements that were read so far.
  void addStatistic(graph::ReduceOp op) {
    ColumnStatistic one{op, passOf(op.getInput()), {}, {}};
    one.type = computeType(graph::tensorType(op.getInput()).getElementType());
    one.buffer = w.allocate(one.type, plan.width);
    statistics.push_back(one);
  }

  /// Returns the number of the first pass (loop over all elements) that can
  /// read `value`. A reduction is complete only at the end of its pass.
  /// Example: if pass 0 computes the sum of x, this number is 1 for the sum.
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

  /// Sets `firstColumn`, `first` and `end` for group number `iteration` of
  /// neighboring columns. Also sets `w.outer`, the multi-index along the dims
  /// that are not reduced. Its last entry is first the index of the group.
  /// overColumns() later replaces it by the index of the column.
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

  /// Emits a loop over the columns from `first` to `end` − 1. `body` emits the
  /// code of one iteration. In `body`, the last entry of `w.outer` is the loop
  /// counter.
  void overColumns(llvm::function_ref<void()> body) {
    w.loop(first, end, w.rows.shape.back(), {},
           [&](const Index &column, ValueRange) {
             w.outer.back() = column;
             body();
             return SmallVector<Value>();
           });
  }

  /// Returns the index of the current column in the stack buffers. A stack
  /// buffer has one value for each column of a group of neighboring columns.
  /// Example: if the group begins at column 64, column 70 has index 6.
  Index lane() {
    return w.indices.add(w.outer.back(), w.indices.scale(firstColumn, -1));
  }
  Value load(const ColumnStatistic &one) {
    return w.load(one.buffer, one.type, lane());
  }
  void store(const ColumnStatistic &one, Value value) {
    w.store(one.buffer, one.type, lane(), value);
  }

  /// Emits loads of the reduction results of the current column into
  /// `w.statistics`. Loads only reductions of passes (loops over all elements)
  /// before `pass`, since later reductions are not complete.
  void bind(int pass) {
    for (const ColumnStatistic &one : statistics)
      if (one.pass < pass)
        w.statistics[one.op] = {load(one)};
  }

  /// Emits pass number `pass`: initial values, a loop over all elements, and
  /// final values of its reductions. The loop also stores the kernel results of
  /// this pass that have one value per element.
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

  /// Returns the multi-index of the element of `result` for the column that the
  /// current iteration of overColumns() processes. `result` is a kernel result
  /// with one element per column. Example: a tensor of shape [4, 500, 100] is
  /// reduced over dim 1. The tensor consists of 4 matrices of 100 columns. For
  /// column 7 of matrix 2, the function returns [2, 7] if `result` has the
  /// shape [4, 100], and [2, 0, 7] if `result` has the shape [4, 1, 100].
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
  /// Index of the first column of a group. A group consists of `plan.width`
  /// neighboring columns of the tensor. The class emits the code that reduces
  /// one group. Example: `plan.width` is 64. For the group of columns 64 to
  /// 127, `firstColumn` is 64.
  Index firstColumn;
  /// Range [first, end) of the columns of a group, as SSA values of type i64. A
  /// group consists of up to `plan.width` neighboring columns of the tensor.
  /// The class emits the code that reduces one group. Example: `plan.width` is
  /// 64, and the tensor has 100 columns. For the second group, `first` is 64
  /// and `end` is 100.
  Value first, end;
};
} // namespace

void pcc::emit::writeColumns(KernelWriter &w, rank::KernelOp kernel,
                             const KernelPlan &plan, ArrayRef<Value> outputs,
                             const Index &iteration) {
  ColumnWriter(w, kernel, plan, outputs).write(iteration);
}
