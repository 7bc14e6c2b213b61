//===- MegatronLayout.cpp - Megatron-LM layout: columns, then rows --------===//

#include "passes/4-shard/policy/MegatronLayout.h"
#include "passes/4-shard/policy/Presets.h"

using namespace mlir;
using namespace pcc;
using namespace pcc::shard;

/// Returns whether `value` depends on a function argument, that is, on an input
/// of the model.
static bool dependsOnInputs(Value value) {
  SmallVector<Value> open{value};
  llvm::SmallPtrSet<Operation *, 16> seen;
  while (!open.empty()) {
    Operation *op = open.pop_back_val().getDefiningOp();
    if (!op)
      return true;
    if (seen.insert(op).second)
      llvm::append_range(open, op->getOperands());
  }
  return false;
}

/// Returns whether `op` looks up rows of a weight by indices that depend on an
/// input of the model. A table of positions does not count, because its indices
/// are constant.
static bool isLookup(Operation *op) {
  auto gather = dyn_cast_or_null<graph::GatherOp>(op);
  return gather && weightOf(gather.getData()) &&
         dependsOnInputs(gather.getIndices());
}

/// Returns the index of the operand of `op` that is a large weight. `op` is
/// vertex `index` of the graph. Returns std::nullopt if `op` has no large
/// weight, or is no contraction (matmul, einsum or convolution). A weight is
/// large if it has more than 1 % of the bytes of all contraction weights in one
/// transformer block.
static std::optional<unsigned> weightOperand(const ContractionWeights &weights,
                                             unsigned index, Operation *op) {
  if (!isContraction(op) || weights.bytes(index) == 0)
    return std::nullopt;
  for (OpOperand &operand : op->getOpOperands())
    if (weightOf(operand.get()))
      return operand.getOperandNumber();
  return std::nullopt;
}

MegatronLayout::MegatronLayout(const ShardedGraph &graph,
                               const ContractionWeights &weights)
    : weights(weights), splitsWeights(hasPreset(graph.function, {"megatron"})),
      splitsSequence(hasPreset(graph.function, {"sequence"})),
      required(graph.ops.size()) {
  if (!splitsWeights && !splitsSequence)
    return;
  SmallVector<ValueState, 0> states;
  for (unsigned i = 0; i < graph.ops.size(); ++i) {
    SmallVector<ValueState> before;
    for (const ShardedGraph::OperandEdge &edge : graph.operands[i])
      before.push_back(states[edge.producer]);
    states.push_back(stateOf(graph, i, before));
    const bool isOpen = llvm::is_contained(before, ValueState::Open);
    // Each operand of an op has a state (ValueState). An operand in the state
    // Open follows a matmul whose weight is split by columns. An operand in the
    // state Stream follows a matmul whose weight is split by rows, or an
    // embedding lookup. Three kinds of ops must split a dim:
    //
    // - With `--preset megatron`, a contraction such as a matmul must split its
    //   weight if the weight is large. It splits the weight by rows if an
    //   operand is in the state Open, and by columns otherwise.
    // - With `--preset megatron`, an embedding lookup must split its table by
    //   rows.
    // - With `--preset sequence`, any other op must split the sequence if an
    //   operand is in the state Stream and no operand is in the state Open. An
    //   example is the norm after a matmul whose weight is split by rows.
    if (weightOperand(weights, i, graph.ops[i].op) ||
        isLookup(graph.ops[i].op)) {
      if (splitsWeights)
        requireWeightSplit(graph, i, isOpen || isLookup(graph.ops[i].op));
    } else if (splitsSequence && !isOpen &&
               llvm::is_contained(before, ValueState::Stream)) {
      requireSequenceSplit(graph, i);
    }
  }
}

MegatronLayout::ValueState
MegatronLayout::stateOf(const ShardedGraph &graph, unsigned index,
                        ArrayRef<ValueState> before) const {
  ValueState most = ValueState::Table;
  for (ValueState state : before)
    most = std::max(most, state);
  if (weightOperand(weights, index, graph.ops[index].op))
    return most == ValueState::Open ? ValueState::Stream : ValueState::Open;
  return isLookup(graph.ops[index].op) ? ValueState::Stream : most;
}

/// Requires that vertex `index` of the graph splits its weight: by rows if
/// `isRows` is true, and by columns if it is false. The function stores this
/// requirement in `required[index]`, a list of factors. A factor is a dim, or
/// part of a dim. Tensor parallelism must split one factor of the list.
///
/// Example: in a matmul [m,k] x [k,n], the weight is [k,n]. Its rows are k, and
/// its columns are n. The function adds k to the list if `isRows` is true, and
/// n if `isRows` is false. In general, the rows are the factors of the weight
/// over which the op sums. The columns are the factors of the weight with the
/// kind Parallel, which ranks can split without communication.
///
/// The op may also be an embedding lookup. The weight is then operand 0, a
/// table. If ranks split the table by rows, each rank looks up all requested
/// rows in its part of the table, and gets 0 for rows that it does not have.
/// The ranks then add their results. The rows are therefore a dim over which a
/// lookup sums.
void MegatronLayout::requireWeightSplit(const ShardedGraph &graph,
                                        unsigned index, bool isRows) {
  const ShardedOp &op = graph.ops[index];
  const unsigned weight = weightOperand(weights, index, op.op).value_or(0);
  for (const auto &dim : op.rule->operands[weight])
    for (int factor : dim) {
      const graph::FactorKind kind = op.rule->factors[factor].kind;
      if (isRows ? graph::isReduction(kind)
                 : kind == graph::FactorKind::Parallel)
        required[index].push_back(factor);
    }
}

void MegatronLayout::requireSequenceSplit(const ShardedGraph &graph,
                                          unsigned index) {
  for (auto [factor, tag] : llvm::enumerate(graph.tags[index]))
    if (tag == FactorTag::Sequence &&
        graph.ops[index].rule->factors[factor].kind ==
            graph::FactorKind::Parallel)
      required[index].push_back(static_cast<int>(factor));
}

bool MegatronLayout::isBroken(unsigned index, const ShardedOp &op,
                              const dist::SubAxis &part) const {
  return !required[index].empty() &&
         llvm::none_of(required[index], [&](int factor) {
           return llvm::is_contained(op.axes[factor], part);
         });
}
