//===- Recompute.cpp - the cheapest way to have what backward reads -------===//

#include "passes/plan/memory/Recompute.h"
#include "passes/plan/schedule/ActionTable.h"
#include "passes/plan/stage/MinCut.h"

#include <algorithm>
#include <numeric>

namespace pcc::plan {

static bool isRead(const ForwardValue &value) { return value.firstRead >= 0; }

Recomputation complete(const StageGraph &stage,
                       const std::vector<bool> &mayKeep) {
  Recomputation result{std::vector<bool>(stage.values.size()),
                       std::vector<bool>(stage.ops.size())};
  std::vector<bool> isNeeded(stage.values.size());
  std::transform(stage.values.begin(), stage.values.end(), isNeeded.begin(),
                 isRead);
  // Readers come first: all that needs a value is known at its op.
  for (size_t i = stage.ops.size(); i-- > 0;) {
    const ForwardOp &op = stage.ops[i];
    for (int value : op.results) {
      if (!isNeeded[value])
        continue;
      const bool keeps = mayKeep[value] || !op.isRepeatable;
      result.isKept[value] = keeps;
      result.keptBytes += keeps ? stage.values[value].bytes : 0;
      if (!keeps)
        result.isRecomputed[i] = true;
    }
    if (!result.isRecomputed[i])
      continue;
    result.flops += op.flops;
    for (int operand : op.operands)
      isNeeded[operand] = true;
  }
  return result;
}

//===----------------------------------------------------------------------===//
// The cheapest at a price
//===----------------------------------------------------------------------===//

namespace {
/// The network of some ops. On the source's side are values that are needed and
/// ops that run again:
///
///   source ──∞── value that backward reads
///   value ──price * bytes── op that makes it ──∞── operand
///                           op ──flops── sink
///
/// Where a value is needed and its op does not run again, its bytes are cut;
/// where an op runs again, its flops are.
class CutNetwork {
public:
  CutNetwork(const StageGraph &stage, const std::vector<int> &ops,
             const std::vector<bool> &isGiven)
      : stage(stage), ops(ops), nodeOf(stage.values.size(), -1) {
    numNodes = 2 + ops.size();
    for (int op : ops)
      for (int value : stage.ops[op].results)
        if (!isGiven[value])
          nodeOf[value] = static_cast<int>(numNodes++);
  }

  TradeOff cheapest(double price) const {
    MinCut network(numNodes);
    for (size_t i = 0; i < ops.size(); ++i)
      addOp(network, i, price);
    return read(network.sourceSide(source, sink));
  }

private:
  static constexpr size_t source = 0, sink = 1;

  void addOp(MinCut &network, size_t i, double price) const {
    const ForwardOp &op = stage.ops[ops[i]];
    const size_t node = 2 + i;
    if (op.isRepeatable)
      network.addEdge(node, sink, op.flops);
    for (int operand : op.operands)
      if (nodeOf[operand] >= 0 && op.isRepeatable)
        network.addEdge(node, nodeOf[operand], MinCut::infinite);
    for (int value : op.results) {
      if (nodeOf[value] < 0)
        continue;
      const double bytes =
          price * static_cast<double>(stage.values[value].bytes);
      network.addEdge(nodeOf[value], op.isRepeatable ? node : sink, bytes);
      if (isRead(stage.values[value]))
        network.addEdge(source, nodeOf[value], MinCut::infinite);
    }
  }

  TradeOff read(const std::vector<bool> &isOfSource) const {
    TradeOff result;
    for (size_t i = 0; i < ops.size(); ++i) {
      const ForwardOp &op = stage.ops[ops[i]];
      const bool runs = op.isRepeatable && isOfSource[2 + i];
      result.flops += runs ? op.flops : 0;
      for (int value : op.results)
        if (nodeOf[value] >= 0 && isOfSource[nodeOf[value]] && !runs) {
          result.kept.push_back(value);
          result.bytes += stage.values[value].bytes;
        }
    }
    return result;
  }

  const StageGraph &stage;
  const std::vector<int> &ops;
  std::vector<int> nodeOf; ///< by value; -1: it is there
  size_t numNodes;
};
} // namespace

TradeOff cheapestTradeOff(const StageGraph &stage, const std::vector<int> &ops,
                          const std::vector<bool> &isGiven, double price) {
  return CutNetwork(stage, ops, isGiven).cheapest(price);
}

/// A price at which all flops are worth a byte.
static double highestPrice(const StageGraph &stage,
                           const std::vector<int> &ops) {
  double flops = 0;
  for (int op : ops)
    flops += stage.ops[op].flops;
  return 2 * std::max(1.0, flops);
}

namespace {
/// The lower hull of (bytes, flops), from vertex to vertex: between two known
/// ones, the price at which they cost the same finds what is cheaper.
class Hull {
public:
  Hull(const StageGraph &stage, const std::vector<int> &ops,
       const std::vector<bool> &isGiven)
      : network(stage, ops, isGiven) {
    double bytes = 0;
    for (int op : ops)
      for (int value : stage.ops[op].results)
        bytes += static_cast<double>(stage.values[value].bytes);
    lowest = 0.5 / std::max(1.0, bytes);
    highest = highestPrice(stage, ops);
  }

  std::vector<TradeOff> run() {
    vertices.push_back(network.cheapest(lowest));
    const TradeOff last = network.cheapest(highest);
    between(vertices.back(), last);
    if (last.bytes < vertices.back().bytes)
      vertices.push_back(last);
    return std::move(vertices);
  }

private:
  /// Appends the vertices between two.
  void between(TradeOff first, const TradeOff &last) {
    if (first.bytes <= last.bytes || last.flops <= first.flops)
      return;
    const double price = (last.flops - first.flops) /
                         static_cast<double>(first.bytes - last.bytes);
    const TradeOff middle = network.cheapest(price);
    auto cost = [&](const TradeOff &point) {
      return point.flops + price * static_cast<double>(point.bytes);
    };
    if (cost(middle) >= cost(first) * (1 - 1e-9) ||
        middle.bytes >= first.bytes || middle.bytes <= last.bytes)
      return;
    between(first, middle);
    vertices.push_back(middle);
    between(middle, last);
  }

  CutNetwork network;
  /// At the first price no flop is worth all bytes.
  double lowest, highest;
  std::vector<TradeOff> vertices;
};
} // namespace

std::vector<TradeOff> tradeOffs(const StageGraph &stage,
                                const std::vector<int> &ops,
                                const std::vector<bool> &isGiven) {
  return Hull(stage, ops, isGiven).run();
}

//===----------------------------------------------------------------------===//
// Modes without a budget
//===----------------------------------------------------------------------===//

/// The fewest kept bytes if only `mayRepeat` run again, then the fewest flops.
template <typename Predicate>
static Recomputation keepLeast(const StageGraph &stage, Predicate mayRepeat) {
  StageGraph limited = stage;
  for (ForwardOp &op : limited.ops)
    op.isRepeatable &= mayRepeat(op);
  std::vector<int> ops(stage.ops.size());
  std::iota(ops.begin(), ops.end(), 0);
  std::vector<bool> mayKeep(stage.values.size());
  const std::vector<bool> none(stage.values.size());
  const double price = highestPrice(limited, ops);
  for (int value : cheapestTradeOff(limited, ops, none, price).kept)
    mayKeep[value] = true;
  return complete(limited, mayKeep);
}

Recomputation recomputeNothing(const StageGraph &stage) {
  return keepLeast(stage, [](const ForwardOp &op) { return op.flops == 0; });
}

Recomputation recomputeCheap(const StageGraph &stage) {
  return keepLeast(stage, [](const ForwardOp &op) { return op.isCheap; });
}

int mostInFlight(const ActionTable &table, int stage) {
  int alive = 0, most = 1;
  for (const Action &action : table.positions[table.positionOfStage[stage]]) {
    if (action.stage != stage)
      continue;
    alive += action.kind == ActionKind::Forward;
    most = std::max(most, alive);
    alive -= action.kind == ActionKind::Backward ||
             action.kind == ActionKind::WeightGradient;
  }
  return most;
}

} // namespace pcc::plan
