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

/// Writes why the program contains `reshard`, an op that changes the sharding
/// of a value, to `origin`:
///  - `reason`: names the first consumer that needs the new sharding, such as
///    "resharded there for matmul 'fc1'".
///  - `decisions`: the decisions of the sharding search about this consumer
///    along `axis`. If `reshard` adds up partial results of the ranks, the
///    decisions about the producer instead.
///
/// If the module records no consumer, only sets `reason`.
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
///  - Pinned: the user has requested the sharding of the value.
///  - ByRole: the value is an input of the model, and the axis splits the batch
///    dim or the sequence dim of the input.
///  - Priced: there are two cases. In the first case, an op computes or reads
///    the value. The compiler's sharding search has compared the costs of
///    several ways to compute this op along the axis, and has chosen one way.
///    In the second case, a reshard (an op that changes the sharding of a
///    value) has caused the split.
///  - Weight: the value is a weight. Each rank along the axis stores only a
///    part of the weight.
///  - Nothing: no other reason was found.
enum Strength { Pinned, ByRole, Priced, Weight, Nothing };

/// Searches for the reason why a mesh axis splits a value. For example, the
/// reason is that the user has requested the split of another value, and the
/// compiler has split this value in the same way. The enum Strength lists all
/// kinds of reasons.
///
/// The search is a breadth-first search. It begins at the value. From each
/// value, the search goes to the op that computes the value and to all ops that
/// read the value. The search continues with those operands and results of
/// these ops that the axis splits. The class then chooses the strongest reason
/// of all values that the search has reached.
class OriginSearch {
public:
  OriginSearch(const dist::Axis &axis) : axis(axis) {}

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

  /// Adds `value` to the list `order`, which contains the values that the
  /// search has reached. Does nothing if `axis` does not split `value`, or if
  /// the list already contains `value`.
  ///
  /// `from` is the value from which the search has reached `value`. For
  /// example, a matmul computes y from x, and the search goes from y to x. In
  /// the call for x, `from` is y. The search begins at one value. In the call
  /// for this value, `from` is null.
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

  /// Examines the ops that compute or read `value`. The class searches for the
  /// reason why `axis` splits a value. The search goes from value to value,
  /// because the split of one value may be the reason for the split of another
  /// value. The list `order` contains all values that the search has reached.
  ///
  /// The function calls spreadOver() for the op that computes `value` and for
  /// all ops that read `value`, except the return op of the model. spreadOver()
  /// appends an operand or a result of the op to the list if two conditions
  /// hold: `axis` splits the operand or result, and the list does not contain
  /// it. Example: a matmul computes y from x and w, and a relu computes z from
  /// y. If `axis` splits all four values, the call for y appends x, w and z.
  void spread(Value value) {
    if (Operation *op = value.getDefiningOp())
      spreadOver(op, value);
    for (Operation *user : value.getUsers())
      if (!isa<func::ReturnOp>(user))
        spreadOver(user, value);
  }

  /// Returns the user's request for the sharding of `value`, as text such as
  /// "--shard 'y=[-,tp]'". The user may have made the request in two ways:
  ///
  ///  - for the op, the model input or the weight that produces `value`
  ///  - for a model output, if `value` is this output
  ///
  /// Returns an empty string if the user has requested no sharding.
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

  /// Writes `best`, the reason why `axis` splits a value, to `origin`:
  ///  - `steps`: the path from the split value to the op or value that is the
  ///    reason, such as "weight 'w2'", "matmul 'fc1'". If the reason is a
  ///    reshard, the path ends at the producer of the resharded value.
  ///  - `reason`: a line such as "pinned by --shard 'y=[-,tp]'", where the user
  ///    has requested the sharding by this option.
  ///  - `decisions`: the decisions of the sharding search that led to the
  ///    split; unchanged if there are none.
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
      origin.reason = "this needs no communication, and each rank stores less";
    }
  }

  /// Mesh axis that splits a value. The class searches for the reason of this
  /// split.
  const dist::Axis &axis;
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

/// Writes to `origin` why each rank along the mesh axis `axis` has the same
/// elements of `start`. A reshard is an op that changes the sharding of a
/// value. The function searches backward from `start`, from the results of ops
/// to their operands. It searches for the nearest reshard whose operand depends
/// on the axis: the axis splits the operand, or each rank has a partial result,
/// such as one term of a sum. This reshard is the reason. If there is no such
/// reshard, the reason is that `start` depends on no split value.
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

Origin explain::originOf(Value value, const dist::Axis &axis) {
  Origin origin;
  origin.axis = axis.name;
  dist::ShardingAttr sharding = dist::shardingOf(value);
  if (!sharding)
    return origin;
  if (int64_t dim = dimOf(value, axis.name); dim >= 0) {
    origin.what = "dim " + std::to_string(dim) + " is split";
    OriginSearch(axis).run(value, origin);
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
