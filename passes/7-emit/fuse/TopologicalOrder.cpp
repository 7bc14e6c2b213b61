//===- TopologicalOrder.cpp - stable topological order of a block ---------===//

#include "passes/7-emit/fuse/TopologicalOrder.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;

SmallVector<Operation *> pcc::emit::topologicalOrder(Block &block) {
  SmallVector<Operation *> ops;
  llvm::DenseSet<Operation *> placed;
  for (Operation &op : block.without_terminator()) {
    // Depth-first search from `op` to the producers of its operands. The list
    // `ops` is the result of the function. Each op of the list must follow the
    // producers of its operands. The stack `missing` holds ops that still have
    // to be appended to the list. The loop looks at the top of the stack. If
    // the list lacks a producer of an operand of this op, the loop pushes the
    // producer. Otherwise, the loop pops the op and appends the op to the list.
    //
    // An op can be on the stack twice. Example: the op c reads the results of
    // the ops a and b, and b also reads the result of a. Both c and b then push
    // a. The list gets a only once.
    SmallVector<Operation *> missing{&op};
    while (!missing.empty()) {
      Operation *next = missing.back();
      const size_t before = missing.size();
      for (Value operand : next->getOperands())
        if (Operation *maker = operand.getDefiningOp();
            maker && !placed.contains(maker))
          missing.push_back(maker);
      if (missing.size() > before)
        continue;
      missing.pop_back();
      if (placed.insert(next).second)
        ops.push_back(next);
    }
  }
  return ops;
}
