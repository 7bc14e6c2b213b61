//===- MegatronLayout.cpp - columns, then rows ----------------------------===//

#include "passes/4-shard/policy/MegatronLayout.h"
#include "passes/4-shard/policy/Presets.h"

using namespace mlir;
using namespace pcc;
using namespace pcc::shard;

/// Whether `value` is computed from an input of the model.
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

/// A table whose rows the run picks: positions are known before.
static bool isLookup(Operation *op) {
  auto gather = dyn_cast_or_null<graph::GatherOp>(op);
  return gather && weightOf(gather.getData()) &&
         dependsOnInputs(gather.getIndices());
}

/// The operand of `op` that is a weight which counts.
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
      asked(graph.ops.size()) {
  if (!splitsWeights && !splitsSequence)
    return;
  SmallVector<State, 0> states;
  for (unsigned i = 0; i < graph.ops.size(); ++i) {
    SmallVector<State> before;
    for (const ShardedGraph::Edge &edge : graph.operands[i])
      before.push_back(states[edge.producer]);
    states.push_back(stateOf(graph, i, before));
    const bool isOpen = llvm::is_contained(before, State::Open);
    if (weightOperand(weights, i, graph.ops[i].op) ||
        isLookup(graph.ops[i].op)) {
      if (splitsWeights)
        askOfWeights(graph, i, isOpen || isLookup(graph.ops[i].op));
    } else if (splitsSequence && !isOpen &&
               llvm::is_contained(before, State::Stream)) {
      askOfStream(graph, i);
    }
  }
}

MegatronLayout::State MegatronLayout::stateOf(const ShardedGraph &graph,
                                              unsigned index,
                                              ArrayRef<State> before) const {
  State most = State::Table;
  for (State state : before)
    most = std::max(most, state);
  if (weightOperand(weights, index, graph.ops[index].op))
    return most == State::Open ? State::Stream : State::Open;
  return isLookup(graph.ops[index].op) ? State::Stream : most;
}

void MegatronLayout::askOfWeights(const ShardedGraph &graph, unsigned index,
                                  bool isRows) {
  const ShardedOp &op = graph.ops[index];
  const unsigned weight = weightOperand(weights, index, op.op).value_or(0);
  for (const auto &dim : op.rule->operands[weight])
    for (int factor : dim) {
      const graph::FactorKind kind = op.rule->factors[factor].kind;
      if (isRows ? graph::isReduction(kind)
                 : kind == graph::FactorKind::Parallel)
        asked[index].push_back(factor);
    }
}

void MegatronLayout::askOfStream(const ShardedGraph &graph, unsigned index) {
  for (auto [factor, tag] : llvm::enumerate(graph.tags[index]))
    if (tag == Tag::Sequence && graph.ops[index].rule->factors[factor].kind ==
                                    graph::FactorKind::Parallel)
      asked[index].push_back(static_cast<int>(factor));
}

bool MegatronLayout::isBroken(unsigned index, const ShardedOp &op,
                              const dist::SubAxis &part) const {
  return !asked[index].empty() && llvm::none_of(asked[index], [&](int factor) {
    return llvm::is_contained(op.axes[factor], part);
  });
}
