//===- ShardingOrigin.cpp - search for the decision behind a sharding -----===//

#include "passes/explain/ShardingOrigin.h"
#include "dialects/graph/GraphDialect.h"
#include "dialects/pipe/PipeDialect.h"
#include "passes/4-shard/search/Provenance.h"
#include "passes/4-shard/search/StrategySpace.h"

using namespace mlir;
using namespace pcc;
using namespace pcc::explain;
using shard::AxisRole;

/// Returns the index of the dim of `value` that `axis` splits; -1 if there is
/// none.
static int64_t dimOf(Value value, StringRef axis) {
  dist::ShardingAttr sharding = dist::shardingOf(value);
  if (sharding)
    for (auto [i, dim] : llvm::enumerate(sharding.getSharding().dims))
      if (dist::holdsAxis(dim.axes(), axis))
        return static_cast<int64_t>(i);
  return -1;
}

/// Returns whether `op` only changes the sharding of a value or sends it to
/// another stage.
static bool isReshardOrTransfer(Operation *op) {
  return isa_and_present<dist::ReshardOp, pipe::TransferOp>(op);
}

Value explain::stripReshards(Value value) {
  while (isReshardOrTransfer(value.getDefiningOp()))
    value = value.getDefiningOp()->getOperand(0);
  return value;
}

/// Returns `name` in single quotes, preceded by a space; empty if `name` is
/// empty.
static std::string quoted(StringRef name) {
  return name.empty() ? "" : (" '" + name + "'").str();
}

/// Returns a text that names `place`, the producer or a reader of a value, such
/// as an op or a model output. Example: "matmul 'node_addmm_1'" is the matmul
/// of the ONNX node node_addmm_1.
static std::string text(const dist::Endpoint &place) {
  return place.op + quoted(place.node);
}

/// Formats the producer of `value`, such as "matmul 'node_addmm_1'".
static std::string textOf(Value value) {
  return text(shard::endpointOf(value));
}

/// Returns the elements of `decisions` that belong to the mesh axis `axis`. A
/// decision belongs to one op and one mesh axis. It contains the way in which
/// the sharding search decided to use this axis for the op.
static std::vector<dist::Decision>
along(const dist::Axis &axis, std::vector<dist::Decision> decisions) {
  std::erase_if(decisions, [&](const auto &d) { return d.axis != axis.name; });
  return decisions;
}

/// Returns the decisions that the sharding search recorded about `op` along the
/// mesh axis `axis`.
static std::vector<dist::Decision> decisionsAlong(Operation *op,
                                                  const dist::Axis &axis) {
  return along(axis, dist::decisionsOf(op->getLoc()));
}

/// Writes why the program contains `reshard` to `origin`: the first consumer
/// that needs the new sharding, and the decisions of the sharding search about
/// this consumer along `axis`. If `reshard` is a reduction, the decisions are
/// those about its producer.
static void explainReshard(dist::ReshardOp reshard, const dist::Axis &axis,
                           Origin &origin) {
  auto cause = dist::causeOf(reshard.getLoc());
  if (!cause || cause->uses.empty()) {
    origin.reason = "resharded there";
    return;
  }
  const dist::Endpoint &use = cause->uses.front();
  origin.reason = "resharded there for " + text(use);
  if (!use.pin.empty())
    origin.reason += ", pinned by " + use.pin;
  const bool isReduction = dist::isPartial(reshard.getFrom().getSharding());
  origin.decisions =
      along(axis, isReduction ? cause->by.decisions : use.decisions);
}

namespace {
/// Kinds of reasons why a mesh axis splits a value, the strongest first:
///
///   Pinned    the user has requested the sharding
///   ByRole    the axis splits the batch or sequence dim of a model input
///   Priced    a decision of the sharding search, or a reshard
///   Weight    each rank stores a shard of the weight
///   Nothing   no other reason was found
enum Strength { Pinned, ByRole, Priced, Weight, Nothing };

/// Finds the reason why a mesh axis splits a value. A breadth-first search goes
/// from the value to its producer and its readers, and to their operands and
/// results that the axis splits. The strongest reason of all reached values
/// wins.
class OriginSearch {
public:
  OriginSearch(const dist::Axis &axis, ReaderSteps &readers)
      : axis(axis), readers(readers) {}

  /// Finds the reason why `axis` splits the value `start`. Sets `origin.reason`
  /// to a text about it, and `origin.steps` to the path from `start` to the op
  /// or value that is the reason.
  void run(Value start, Origin &origin) {
    visit(start, Value());
    for (size_t i = 0; i < order.size(); ++i)
      spread(order[i]);
    Anchor best{start, nullptr, Nothing};
    for (Value value : order)
      if (Anchor own = anchorAt(value); own.strength < best.strength)
        best = own;
    finish(best, origin);
  }

private:
  /// A possible reason why `axis` splits `value`. If `op` is not null, the
  /// reason is this op, which computes or reads `value`. If `op` is null, the
  /// reason is a property of `value`, such as a sharding that the user has
  /// requested.
  struct Anchor {
    Value value;
    Operation *op;
    Strength strength;
  };

  /// Appends `value` to `order`, the values that the search has reached, if
  /// `axis` splits `value`. Does nothing if the list already contains `value`.
  /// `from` is the preceding value on the path of the search; null for the
  /// first value.
  void visit(Value value, Value from) {
    if (dimOf(value, axis.name) >= 0 &&
        cameFrom.try_emplace(value, from).second)
      order.push_back(value);
  }

  /// Appends each operand and result of `op` that `axis` splits to the list
  /// `order`, unless the list already contains it. Stores `from`, the value
  /// from which the search has reached `op`, as its predecessor in `cameFrom`.
  /// Appends nothing if `op` is a reshard or a transfer between pipeline stages
  /// and `axis` splits different dims of its operand and result: the reason for
  /// one split is then not the reason for the other.
  void spreadOver(Operation *op, Value from) {
    if (isReshardOrTransfer(op) && dimOf(op->getOperand(0), axis.name) !=
                                       dimOf(op->getResult(0), axis.name))
      return;
    for (Value operand : op->getOperands())
      visit(operand, from);
    for (Value result : op->getResults())
      visit(result, from);
  }

  /// Continues the search at the op that computes `value`, and at all ops that
  /// read `value` except the return op.
  void spread(Value value) {
    if (Operation *op = value.getDefiningOp())
      spreadOver(op, value);
    for (Operation *user : value.getUsers())
      if (!isa<func::ReturnOp>(user))
        spreadOver(user, value);
  }

  /// Returns the option or annotation by which the user fixes the sharding of
  /// `value`, such as "--shard 'y=[-,tp]'"; empty if there is none. It may name
  /// `value`, or the op that computes `value`, or a model output that is
  /// `value`.
  std::string pinOf(Value value) const {
    if (std::string pin = shard::endpointOf(value).pin; !pin.empty())
      return pin;
    if (Operation *op = value.getDefiningOp())
      if (auto pin = op->getAttrOfType<StringAttr>(dist::pinnedName))
        return pin.str();
    for (OpOperand &use : value.getUses())
      if (isa<func::ReturnOp>(use.getOwner()))
        if (std::string pin = shard::endpointOf(use).pin; !pin.empty())
          return pin;
    return "";
  }

  /// Returns the strongest reason why `axis` splits `value`. The enum Strength
  /// lists the kinds of reasons, the strongest first. Examines only `value`,
  /// the op that computes it and the ops that read it.
  Anchor anchorAt(Value value) const {
    if (!pinOf(value).empty())
      return {value, nullptr, Pinned};
    Operation *op = value.getDefiningOp();
    if (auto reshard = dyn_cast_or_null<dist::ReshardOp>(op);
        reshard &&
        dimOf(reshard.getInput(), axis.name) != dimOf(value, axis.name))
      return {value, op, Priced};
    if (auto argument = dyn_cast<BlockArgument>(value);
        argument && isByRole(argument))
      return {value, nullptr, ByRole};
    if (op && op->getNumOperands() > 0 && !decisionsAlong(op, axis).empty())
      return {value, op, Priced};
    for (Operation *user : value.getUsers())
      if (!decisionsAlong(user, axis).empty())
        return {value, user, Priced};
    return {value, op,
            isa_and_present<graph::GetParameterOp>(op) ? Weight : Nothing};
  }

  /// Returns whether `axis` splits the dim of the model input `argument` for
  /// which the axis exists: the batch dim for dp (data parallelism) and mb
  /// (microbatches), and the sequence dim for cp (context parallelism). For any
  /// other axis, such as tp, the result is false.
  bool isByRole(BlockArgument argument) const {
    const AxisRole role = shard::roleOf(axis.name);
    StringRef name = role == AxisRole::Batch      ? graph::batchDimName
                     : role == AxisRole::Sequence ? graph::sequenceDimName
                                                  : "";
    auto function = cast<func::FuncOp>(argument.getOwner()->getParentOp());
    auto dim = name.empty() ? IntegerAttr()
                            : function.getArgAttrOfType<IntegerAttr>(
                                  argument.getArgNumber(), name);
    return dim && dim.getInt() == dimOf(argument, axis.name);
  }

  /// Writes the reason `best` to `origin`: the path from the split value to the
  /// reason, a line of text, and the decisions of the sharding search. If the
  /// reason is a reshard, the path ends at the producer of the resharded value.
  void finish(const Anchor &best, Origin &origin) const {
    if (best.strength == Priced && best.op != best.value.getDefiningOp())
      origin.steps.push_back(textOf(best.op->getResult(0)));
    for (Value value = best.value; value; value = cameFrom.lookup(value)) {
      std::string step = textOf(value);
      if (!isReshardOrTransfer(value.getDefiningOp()) &&
          (origin.steps.empty() || origin.steps.back() != step))
        origin.steps.push_back(step);
    }
    std::reverse(origin.steps.begin(), origin.steps.end());
    switch (best.strength) {
    case Pinned:
      origin.reason = "pinned by " + pinOf(best.value);
      return;
    case ByRole:
      origin.reason = shard::roleOf(axis.name) == AxisRole::Batch
                          ? axis.name + " splits the batch only"
                          : axis.name + " splits the sequence";
      return;
    case Priced:
      if (auto reshard = dyn_cast<dist::ReshardOp>(best.op)) {
        origin.steps.push_back(textOf(stripReshards(reshard)));
        explainReshard(reshard, axis, origin);
        return;
      }
      origin.decisions = decisionsAlong(best.op, axis);
      origin.reason = "decided there (everything else unchanged)";
      return;
    case Weight:
    case Nothing:
      origin.reason = storageText();
    }
  }

  /// Returns the reason for a split that only makes each rank store less. The
  /// text has the communications that this split costs the readers of all
  /// values that the search has reached.
  std::string storageText() const {
    const auto steps = readers.ofReaders(order, axis.name);
    if (steps.empty())
      return "this needs no communication, and each rank stores less";
    return "each rank stores less; readers need " + countedText(steps);
  }

  /// Mesh axis that splits a value. The class searches for the reason of this
  /// split.
  const dist::Axis &axis;
  /// Finds the communications that readers of a value need.
  ReaderSteps &readers;
  /// Path of the search. Maps each value that the search has reached to the
  /// previous value on the path, and the first value to null. Example: the
  /// search starts at x, goes from x to y and from y to z. The map then
  /// contains x -> null, y -> x and z -> y.
  DenseMap<Value, Value> cameFrom;
  /// Values that the search has reached. The first value is the start of the
  /// search. The search appends each value when it reaches the value for the
  /// first time.
  std::vector<Value> order;
};
} // namespace

/// Writes to `origin` why all ranks along `axis` have the same elements of
/// `start`. The reason is the nearest preceding reshard of a value that is
/// split or partial along `axis`. If there is none, the reason is that `start`
/// depends on no value that `axis` splits.
static void explainWhole(Value start, const dist::Axis &axis, Origin &origin) {
  SmallVector<Value> order{start};
  DenseMap<Value, Value> cameFrom{{start, Value()}};
  for (size_t i = 0; i < order.size(); ++i) {
    Operation *op = order[i].getDefiningOp();
    if (auto reshard = dyn_cast_or_null<dist::ReshardOp>(op);
        reshard &&
        dist::holdsAxis(dist::axesUsed(reshard.getFrom().getSharding()),
                        axis.name)) {
      for (Value value = order[i]; value; value = cameFrom.lookup(value))
        if (!isReshardOrTransfer(value.getDefiningOp()))
          origin.steps.push_back(textOf(value));
      std::reverse(origin.steps.begin(), origin.steps.end());
      origin.steps.push_back(textOf(stripReshards(reshard)));
      explainReshard(reshard, axis, origin);
      return;
    }
    for (Value operand : op ? op->getOperands() : ValueRange())
      if (cameFrom.try_emplace(operand, order[i]).second)
        order.push_back(operand);
  }
  origin.reason = "no value that it depends on is split over " + axis.name;
}

Origin explain::originOf(Value value, const dist::Axis &axis,
                         ReaderSteps &readers) {
  Origin origin;
  origin.axis = axis.name;
  dist::ShardingAttr sharding = dist::shardingOf(value);
  if (!sharding)
    return origin;
  if (int64_t dim = dimOf(value, axis.name); dim >= 0) {
    origin.what = "dim " + std::to_string(dim) + " is split";
    OriginSearch(axis, readers).run(value, origin);
    return origin;
  }
  if (dist::holdsAxis(dist::partialAxes(sharding.getSharding()), axis.name)) {
    origin.what = "partial";
    const Value maker = stripReshards(value);
    origin.steps.push_back(textOf(maker));
    origin.reason = "each rank reduces its part";
    if (Operation *op = maker.getDefiningOp())
      origin.decisions = decisionsAlong(op, axis);
    return origin;
  }
  origin.what = "whole";
  explainWhole(value, axis, origin);
  return origin;
}
