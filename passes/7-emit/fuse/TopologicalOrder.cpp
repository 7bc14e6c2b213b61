//===- TopologicalOrder.cpp - stable topological order of a block ---------===//

#include "passes/7-emit/fuse/TopologicalOrder.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;

SmallVector<Operation *> pcc::emit::topologicalOrder(Block &block) {
  SmallVector<Operation *> ops;
  llvm::DenseSet<Operation *> placed;
  for (Operation &op : block.without_terminator()) {
    // Depth-first search from `op` to the producers of its operands. Each op
    // enters `ops` after its producers. An op can be on the stack `missing`
    // twice, but enters `ops` only once.
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
