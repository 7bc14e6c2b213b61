//===- Recompute.cpp - minimum cuts that choose recomputed activations ----===//

#include "passes/plan/memory/Recompute.h"
#include "passes/plan/schedule/ActionTable.h"
#include "passes/plan/stage/MinCut.h"

#include <algorithm>
#include <cassert>
#include <numeric>

namespace pcc::plan {

/// Returns whether some op of the backward pass reads the value.
static bool isRead(const ForwardValue &value) { return value.firstRead >= 0; }

Recomputation complete(const StageGraph &stage,
                       const std::vector<bool> &mayKeep) {
  assert(mayKeep.size() == stage.values.size() && "one entry per value");
  Recomputation result{std::vector<bool>(stage.values.size()),
                       std::vector<bool>(stage.ops.size())};
  std::vector<bool> isNeeded(stage.values.size());
  std::transform(stage.values.begin(), stage.values.end(), isNeeded.begin(),
                 isRead);
  // Ops are visited in reverse, so all readers of a value are visited before
  // the op that produces it. `isNeeded` of the value is final when that op is
  // visited.
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
// Cheapest trade-off at a given price
//===----------------------------------------------------------------------===//

namespace {
/// A flow network whose minimum cut is the cheapest trade-off for some ops.
/// Values and ops are nodes. The side of the source has the needed values and
/// the recomputed ops:
///
///   source ──∞── value that backward reads
///   value ──price * bytes── op that makes it ──∞── operand
///                           op ──flops── sink
///
/// The cut contains two kinds of edges:
///  - the bytes of each needed value whose op is not recomputed: it is kept;
///  - the flops of each recomputed op.
/// An infinite edge is never cut: a recomputed op needs all of its operands.
/// For an op that is not repeatable, the edge of each result leads to the sink
/// instead of the op. Then a needed result is always kept.
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

  /// Returns the trade-off with the least price * bytes + flops. `price` is in
  /// flops per byte.
  TradeOff cheapest(double price) const {
    MinCut network(numNodes);
    for (size_t i = 0; i < ops.size(); ++i)
      addOp(network, i, price);
    return read(network.sourceSide(source, sink));
  }

private:
  static constexpr size_t source = 0, sink = 1;

  /// Adds to `network` the edges of the op with the index ops[i], and the edges
  /// of the results of this op. `price` is in flops per byte.
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

  /// Returns the trade-off that a cut of the network represents: kept values,
  /// their bytes, and the flops of the recomputed ops. isOfSource[n] is true if
  /// node n of the network is on the side of the source.
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
  std::vector<int> nodeOf; ///< by value; -1: always available
  size_t numNodes;
};
} // namespace

TradeOff cheapestTradeOff(const StageGraph &stage, const std::vector<int> &ops,
                          const std::vector<bool> &isGiven, double price) {
  assert(std::is_sorted(ops.begin(), ops.end()) && "ops out of order");
  assert(isGiven.size() == stage.values.size() && "one entry per value");
  return CutNetwork(stage, ops, isGiven).cheapest(price);
}

/// Returns a price in flops per byte at which one byte costs more than the
/// flops of all `ops` together.
static double highestPrice(const StageGraph &stage,
                           const std::vector<int> &ops) {
  double flops = 0;
  for (int op : ops)
    flops += stage.ops[op].flops;
  return 2 * std::max(1.0, flops);
}

namespace {
/// Finds the vertices of the lower convex hull of the points (bytes, flops) of
/// all trade-offs. Each step starts with two known vertices a and b, and
/// computes the price at which a and b cost the same. At this price, the
/// minimum cut finds the cheapest trade-off c. If c is cheaper than a and b,
/// then c is a vertex between them. Otherwise no vertex is between a and b.
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

  /// Returns the vertices of the hull, from the fewest flops to the fewest
  /// bytes. Must be called only once.
  std::vector<TradeOff> run() {
    vertices.push_back(network.cheapest(lowest));
    const TradeOff last = network.cheapest(highest);
    between(vertices.back(), last);
    if (last.bytes < vertices.back().bytes)
      vertices.push_back(last);
    return std::move(vertices);
  }

private:
  /// Appends the vertices of the hull strictly between `first` and `last`, in
  /// order.
  void between(const TradeOff &first, const TradeOff &last) {
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
  /// The lowest and the highest price (flops per byte) of the search. At
  /// `lowest`, all bytes together cost less than one flop. At `highest`, one
  /// byte costs more than all flops.
  double lowest, highest;
  std::vector<TradeOff> vertices;
};
} // namespace

std::vector<TradeOff> tradeOffs(const StageGraph &stage,
                                const std::vector<int> &ops,
                                const std::vector<bool> &isGiven) {
  assert(std::is_sorted(ops.begin(), ops.end()) && "ops out of order");
  assert(isGiven.size() == stage.values.size() && "one entry per value");
  return Hull(stage, ops, isGiven).run();
}

//===----------------------------------------------------------------------===//
// Modes without a budget
//===----------------------------------------------------------------------===//

/// Among the recomputations that repeat only ops for which `mayRepeat` is true,
/// returns the one with the fewest kept bytes and, at equal bytes, the fewest
/// flops.
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
  assert(stage >= 0 && stage < table.numStages && "no such stage");
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
