//===- ColumnReductions.cpp - reductions of neighbouring columns ----------===//

#include "passes/7-emit/kernel/ColumnReductions.h"
#include "passes/7-emit/kernel/RowReductions.h"

using namespace mlir;
using namespace pcc;
using namespace pcc::emit;

namespace {
/// Of a reduction: its values so far, one per column, and the pass over the
/// rows that completes them.
struct ColumnStatistic {
  graph::ReduceOp op;
  int pass;
  Type type;
  Value buffer;
};

struct Output {
  Value result, pointer;
  int pass;
};

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
  void addStatistic(graph::ReduceOp op) {
    ColumnStatistic one{op, passOf(op.getInput()), {}, {}};
    one.type = computeType(graph::tensorType(op.getInput()).getElementType());
    one.buffer = w.allocate(one.type, plan.width);
    statistics.push_back(one);
  }

  /// The pass in which an element of `value` can be computed: it reads
  /// statistics of the passes before.
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

  /// The columns of an outer iteration: [first, end) of the last dim.
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

  void overColumns(llvm::function_ref<void()> body) {
    w.loop(first, end, w.rows.shape.back(), {}, [&](Index column, ValueRange) {
      w.outer.back() = column;
      body();
      return SmallVector<Value>();
    });
  }

  /// Where the current column is in the buffers.
  Index lane() {
    return w.indices.add(w.outer.back(), w.indices.scale(firstColumn, -1));
  }
  Value load(const ColumnStatistic &one) {
    return w.load(one.buffer, one.type, lane());
  }
  void store(const ColumnStatistic &one, Value value) {
    w.store(one.buffer, one.type, lane(), value);
  }

  /// Lets the current column read the statistics of the passes before `pass`.
  void bind(int pass) {
    for (const ColumnStatistic &one : statistics)
      if (one.pass < pass)
        w.statistics[one.op] = {load(one)};
  }

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

  /// Where the current column is in a result that has an element per column.
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
  Index firstColumn;
  Value first, end;
};
} // namespace

void pcc::emit::writeColumns(KernelWriter &w, rank::KernelOp kernel,
                             const KernelPlan &plan, ArrayRef<Value> outputs,
                             const Index &iteration) {
  ColumnWriter(w, kernel, plan, outputs).write(iteration);
}
