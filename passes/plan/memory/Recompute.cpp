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
/// Flow network whose minimum cut is the cheapest choice of kept values and
/// recomputed ops. A choice costs price * bytes of the kept values + flops of
/// the recomputed ops. A value that is always in memory, such as a weight, has
/// no node. Edges:
///
///     from     to         capacity
///     source   value      infinite, if the backward pass reads the value
///     value    its op     price * bytes; this op computes the value
///     op       operand    infinite
///     op       sink       flops of the op
///
/// An op on the source's side of the cut is recomputed. A value on the source's
/// side is kept if its op is on the sink's side. If an op must not run twice,
/// its results have edges to the sink in place of the edges to the op.
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

  /// Returns the choice with the least cost. A choice says which results of the
  /// ops in the list `ops` are kept in memory, and which of these ops the
  /// backward pass runs again (recomputes). A choice has a cost, in flops:
  ///
  ///     price * bytes of the kept values + flops of the recomputed ops
  ///
  /// `price` is the cost of one kept byte. For example, if the price is 2, a
  /// choice that keeps 50 bytes and recomputes 40 flops costs 2 * 50 + 40 = 140
  /// flops.
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

  /// Returns the decision that belongs to a cut of the network. The cut divides
  /// the nodes into the source's side and the sink's side. isOfSource[n] is
  /// true if the node n is on the source's side. The rules are:
  ///
  ///  - The backward pass runs an op again (recomputes the op) if the op is on
  ///    the source's side and may run twice.
  ///  - A value is kept in memory if the value is on the source's side and the
  ///    op that computes it is not recomputed.
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

/// Returns a price: the cost of one kept byte, in flops. `ops` has indices of
/// ops in `stage.ops`. A choice says which results of these ops are kept in
/// memory, and which of these ops the backward pass runs again (recomputes). A
/// choice has a cost, in flops:
///
///     price * bytes of the kept values + flops of the recomputed ops
///
/// The returned price is so high that one kept byte costs more than the
/// recomputation of all `ops`. At this price, the choice with the least cost is
/// therefore a choice with the fewest kept bytes. For example, if two ops have
/// 30 and 70 flops, the price is 2 * (30 + 70) = 200 flops per byte.
static double highestPrice(const StageGraph &stage,
                           const std::vector<int> &ops) {
  double flops = 0;
  for (int op : ops)
    flops += stage.ops[op].flops;
  return 2 * std::max(1.0, flops);
}

namespace {
/// Finds the best choices of kept values and recomputed ops. A choice is a
/// point: the bytes of the kept values, and the flops of the recomputed ops.
/// The best choices are the vertices of the lower convex hull of all points.
///
/// To find a vertex between two vertices a and b, the class computes the price
/// at which a and b cost the same. A choice costs flops + price * bytes. A
/// minimum cut finds the cheapest choice c at this price. If c costs less than
/// a, c is a vertex. Example:
///
///     a        100 bytes,   0 flops
///     b         20 bytes, 160 flops
///     price    (160 - 0) / (100 - 20) = 2 flops per byte
///     cost     0 + 2 * 100 = 160 + 2 * 20 = 200 flops for a and for b
///     c         50 bytes,  40 flops: 40 + 2 * 50 = 140, a vertex
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

  /// Returns the best choices of kept values and recomputed ops. `price` is a
  /// number of flops per byte. At a given price, a choice costs:
  ///
  ///     price * bytes of the kept values + flops of the recomputed ops
  ///
  /// For each price above 0, one of the returned choices is the cheapest of all
  /// choices. The first returned choice has the fewest flops. The last returned
  /// choice has the fewest bytes. The function must be called only once,
  /// because it moves the member `vertices` to the caller.
  std::vector<TradeOff> run() {
    vertices.push_back(network.cheapest(lowest));
    const TradeOff last = network.cheapest(highest);
    between(vertices.back(), last);
    if (last.bytes < vertices.back().bytes)
      vertices.push_back(last);
    return std::move(vertices);
  }

private:
  /// Appends to `vertices` all best choices that keep fewer bytes than `first`
  /// and more bytes than `last`. A choice says which values are kept and which
  /// ops are recomputed. At a given price in flops per byte, a choice costs:
  ///
  ///     price * bytes of the kept values + flops of the recomputed ops
  ///
  /// A choice is best if there is a price at which it is cheaper than all other
  /// choices. `first` and `last` are best choices, too, but the function does
  /// not append them. The choice with the most kept bytes is appended first.
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

/// Decides which values of the forward pass stay in memory until the backward
/// pass (kept values), and which ops of the forward pass the backward pass runs
/// again (recomputed ops). An op may be recomputed only if mayRepeat(op) is
/// true and the flag `isRepeatable` of the op is true. If the backward pass or
/// a recomputed op reads a result of an op, the result must be kept, or the op
/// that computes the result must be recomputed.
///
/// The function returns the decision with the fewest bytes of kept values. If
/// several decisions have the fewest bytes, it returns the decision with the
/// fewest flops of recomputed ops.
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
