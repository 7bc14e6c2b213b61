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
  // A value is needed if the backward pass or a recomputed op reads it. This
  // loop visits the ops in reverse. It therefore visits all readers of a value
  // before the op that computes the value. When the loop reaches this op,
  // `isNeeded` of the value is final.
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
/// Flow network whose minimum cut minimizes price * bytes of kept values +
/// flops of recomputed ops. An op on the source's side is recomputed; a value
/// on the source's side is kept if its op is on the sink's side.
///
///     from     to         capacity
///     source   value      infinite, if the backward pass reads the value
///     value    its op     price * bytes; this op computes the value
///     op       operand    infinite
///     op       sink       flops of the op
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

  /// Returns the choice of kept values and recomputed ops with the least cost
  /// in flops: price * bytes of the kept values + flops of the recomputed ops.
  TradeOff cheapest(double price) const {
    MinCut network(numNodes);
    for (size_t i = 0; i < ops.size(); ++i)
      addOp(network, i, price);
    return read(network.sourceSide(source, sink));
  }

private:
  static constexpr size_t source = 0, sink = 1;

  /// Adds the edges of the op ops[i] and of its results to `network`. The table
  /// above the class lists the edges. If the op must not run twice, no edge
  /// begins or ends at the op, and its results have edges to the sink. A needed
  /// result is then always kept. Operands and results that are always in memory
  /// have no node and get no edges. `price` is the cost of one kept byte, in
  /// flops.
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

  /// Returns the kept values and recomputed ops that a cut stands for.
  /// isOfSource[n] is true if node n is on the source's side. An op on this
  /// side is recomputed if it may run twice. A value on this side is kept if
  /// its op is not recomputed.
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

/// Returns a price of a kept byte, in flops. The price is so high that one kept
/// byte costs more than the recomputation of all `ops`. At this price, the
/// cheapest choice of kept values keeps the fewest bytes.
static double highestPrice(const StageGraph &stage,
                           const std::vector<int> &ops) {
  double flops = 0;
  for (int op : ops)
    flops += stage.ops[op].flops;
  return 2 * std::max(1.0, flops);
}

namespace {
/// Finds trade-offs between kept bytes and recomputed flops. Each choice of
/// kept values is a point (kept bytes, recomputed flops), and this class finds
/// the points on the lower convex hull. Between two points a and b, it sets the
/// price of a kept byte such that a and b cost the same. A minimum cut finds
/// the cheapest choice at this price. If this choice costs less than a, its
/// point is on the hull.
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

  /// Returns choices of kept values. For each price above 0 of a kept byte, one
  /// of them has the least cost: price * kept bytes + recomputed flops. The
  /// choice with the fewest flops comes first. Must be called only once,
  /// because it returns `vertices` by a move.
  std::vector<TradeOff> run() {
    vertices.push_back(network.cheapest(lowest));
    const TradeOff last = network.cheapest(highest);
    between(vertices.back(), last);
    if (last.bytes < vertices.back().bytes)
      vertices.push_back(last);
    return std::move(vertices);
  }

private:
  /// Appends to `vertices` the choices of kept values on the convex hull
  /// between `first` and `last`, without these two. The choice with the most
  /// kept bytes comes first.
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
  /// Smallest and largest price that the search uses. A price is a number of
  /// flops that one kept byte costs. At the price `lowest`, the bytes of all
  /// values together cost less than one flop. The cheapest choice then
  /// recomputes the fewest flops. At the price `highest`, one byte costs more
  /// than the recomputation of all ops. The cheapest choice then keeps the
  /// fewest bytes.
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

/// Returns the decision that keeps the fewest bytes until the backward pass
/// and, among several such decisions, recomputes the fewest flops. An op may be
/// recomputed only if both mayRepeat(op) and `isRepeatable` are true.
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
