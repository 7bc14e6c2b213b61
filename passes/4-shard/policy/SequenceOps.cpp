//===- SequenceOps.cpp - ops that context parallelism must divide ---------===//

#include "passes/4-shard/policy/SequenceOps.h"
#include "passes/4-shard/policy/ContractionWeights.h"

using namespace mlir;
using namespace pcc;
using namespace pcc::shard;

/// Returns whether `op` reads a parameter of floats. Integer parameters, such
/// as constant position ids, are not weights. `op` may be null.
static bool isWeight(Operation *op) {
  auto get = dyn_cast_or_null<graph::GetParameterOp>(op);
  return get &&
         isa<FloatType>(graph::tensorType(get.getResult()).getElementType());
}

SequenceOps::SequenceOps(const ShardedGraph &graph) : ops(graph.ops.size()) {
  llvm::BitVector reached(graph.ops.size());
  for (unsigned i = 0; i < graph.ops.size(); ++i) {
    Operation *op = graph.ops[i].op;
    if (isWeight(op) || isContraction(op) ||
        isa_and_nonnull<graph::AttentionOpInterface>(op) ||
        llvm::any_of(graph.operands[i],
                     [&](const ShardedGraph::OperandEdge &edge) {
                       return reached.test(edge.producer);
                     }))
      reached.set(i);
    if (reached.test(i) && !isLayoutOrCast(op))
      ops.set(i);
  }
}
