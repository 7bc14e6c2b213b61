//===- SplitConcats.cpp - concatenations of many parts in steps -----------===//

#include "passes/7-emit/lower/SplitConcats.h"
#include "dialects/graph/GraphDialect.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace pcc;

/// Concatenates each group of `maxParts` neighboring operands of `op`, and
/// returns one value per group. The last group can be smaller. A group of one
/// operand is returned without a concatenation.
static SmallVector<Value> joinRuns(graph::ConcatOp op, size_t maxParts) {
  OpBuilder builder(op);
  SmallVector<Value> joined, parts(op.getInputs());
  for (ArrayRef<Value> rest = parts; !rest.empty();) {
    ArrayRef<Value> run = rest.take_front(maxParts);
    rest = rest.drop_front(run.size());
    if (run.size() == 1) {
      joined.push_back(run.front());
      continue;
    }
    joined.push_back(
        graph::ConcatOp::create(builder, op.getLoc(), run, op.getDim()));
  }
  return joined;
}

void pcc::emit::splitConcats(Block &block, size_t maxParts) {
  for (auto op : llvm::make_early_inc_range(block.getOps<graph::ConcatOp>()))
    while (op.getInputs().size() > maxParts)
      op->setOperands(joinRuns(op, maxParts));
}
