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
/// input of the model. A lookup of position embeddings does not count, because
/// its indices are constant.
static bool isLookup(Operation *op) {
  auto gather = dyn_cast_or_null<graph::GatherOp>(op);
  return gather && weightOf(gather.getData()) &&
         dependsOnInputs(gather.getIndices());
}

/// Returns the index of the large weight among the operands of `op`, node
/// `index` of the graph. Returns std::nullopt if `op` has no large weight, or
/// is no contraction.
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
    // `--preset megatron`: A contraction splits its large weight by rows if one
    // of its operands is Open (comes from a weight that is split by columns),
    // and otherwise by columns. An embedding lookup splits its table by rows.
    // `--preset sequence`: Any other op splits its sequence if one of its
    // operands is Stream (comes from a weight that is split by rows, or from a
    // lookup) and none is Open.
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

/// Appends loop dims of node `index` to `required[index]`: `tp` must split one
/// of them. If `isRows` is true, these are the rows of the node's weight, that
/// is, the dims over which the op sums. Otherwise, they are the columns: the
/// parallel dims of the weight. The weight of an embedding lookup is its table,
/// operand 0. A lookup counts as a sum over the rows of the table, because each
/// rank returns 0 for rows that it lacks.
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
