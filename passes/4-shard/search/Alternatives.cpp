//===- Alternatives.cpp - choices that ops did not take, and their prices -===//

#include "passes/4-shard/search/Alternatives.h"
#include "dialects/graph/TensorBytes.h"
#include "passes/4-shard/graph/InnerExchanges.h"
#include "passes/4-shard/graph/RingAttention.h"
#include "passes/4-shard/search/Provenance.h"
#include "passes/plan/search/ReshardOrder.h"
#include "sharding/ShardingText.h"
#include "llvm/ADT/StringExtras.h"

#include <algorithm>
#include <map>

using namespace mlir;
using namespace pcc;
using namespace pcc::shard;

/// Largest number of alternatives that a decision (dist::Decision) lists in
/// addition to the split that the search selected.
static constexpr size_t mostKept = 5;

/// Returns whether `part` is a sub-axis of `axis`.
static bool isOf(const dist::SubAxis &part, const dist::Axis &axis) {
  return part.axis == axis.name;
}

/// Returns a copy of `op` that does not use the mesh axis `axis`. The flag
/// `usesAllWindows` says that each rank receives only the operand elements that
/// it needs, for every windowed read of the op, such as a slice. If no other
/// axis splits the copy, its flag becomes false.
static ShardedOp withoutAxis(const ShardedOp &op, const dist::Axis &axis) {
  ShardedOp base(op);
  bool isSplit = false;
  for (dist::SubAxes &axes : base.axes) {
    llvm::erase_if(axes, [&](const auto &part) { return isOf(part, axis); });
    isSplit |= !axes.empty();
  }
  for (size_t i = base.through.size(); i-- > 0;)
    if (isOf(base.through[i], axis)) {
      base.through.erase(base.through.begin() + i);
      base.throughOperand.erase(base.throughOperand.begin() + i);
    }
  base.usesAllWindows &= isSplit;
  return base;
}

/// Sorts the list of axes of each loop dim of `op` that `axis` splits. `own` is
/// the same op with the split that the search selected. If the list for this
/// loop dim in `own` has the same axes, takes the order of that list. Otherwise
/// takes the order of the mesh, with the sub-axes of one mesh axis from major
/// to minor.
static void order(ShardedOp &op, const ShardedOp &own, const dist::Axis &axis,
                  const dist::Mesh &mesh) {
  for (auto [axes, as] : llvm::zip_equal(op.axes, own.axes)) {
    if (!dist::holdsAxis(axes, axis.name))
      continue;
    llvm::sort(axes, [&](const dist::SubAxis &a, const dist::SubAxis &b) {
      return std::pair(mesh.indexOf(a.axis), a.pre) <
             std::pair(mesh.indexOf(b.axis), b.pre);
    });
    if (std::is_permutation(axes.begin(), axes.end(), as.begin(), as.end()))
      axes = as;
  }
}

/// Returns whether `candidate`, a way of splitting node `index`, reads an
/// operand as a partial sum along `axis`, although no operand is computed as a
/// partial sum. To make a partial sum of a complete tensor, one rank would keep
/// the tensor as its addend, and the other ranks would take zeros. This is
/// never useful.
static bool makesPartial(const ShardedGraph &graph, unsigned index,
                         const ShardedOp &candidate, const dist::Axis &axis) {
  if (!dist::holdsAxis(candidate.through, axis.name))
    return false;
  return llvm::none_of(graph.operands[index], [&](const auto &edge) {
    return dist::holdsAxis(
        dist::partialAxes(graph.ops[edge.producer].resultSharding(edge.result)),
        axis.name);
  });
}

/// Returns the shardings of all operands of `op`, followed by those of all
/// results. dist::placement() simplifies them: two shardings of a tensor are
/// then equal if they give each rank the same elements.
static SmallVector<dist::Sharding> placementsOf(const ShardedOp &op) {
  SmallVector<dist::Sharding> placements;
  for (unsigned i = 0; i < op.rule->operands.size(); ++i)
    placements.push_back(dist::placement(op.operandSharding(i)));
  for (unsigned i = 0; i < op.rule->results.size(); ++i)
    placements.push_back(dist::placement(op.resultSharding(i)));
  return placements;
}

//===----------------------------------------------------------------------===//
// Prices
//===----------------------------------------------------------------------===//

bool Alternatives::add(const dist::Sharding &from, const dist::Sharding &to,
                       RankedTensorType type, bool isShared,
                       dist::Choice &choice) const {
  return add(planner.plan(from, to, dist::shapeOf(type.getShape()),
                          graph::elementBytes(type)),
             isShared, choice);
}

bool Alternatives::add(const plan::ReshardPlan &plan, bool isShared,
                       dist::Choice &choice) const {
  for (const plan::ReshardStep &step : plan.steps)
    if (dist::communicates(step.kind))
      choice.steps.push_back(pricedStep(step, planner.mesh(), isShared));
  if (!isShared)
    choice.picoseconds +=
        static_cast<int64_t>(costOf(plan, planner).picoseconds);
  return plan.possible();
}

bool Alternatives::followsReader(unsigned index, unsigned reader) const {
  const ShardedOp &leaf = graph.ops[index];
  return leaf.op && leaf.op->getNumOperands() == 0 && !graph.seedOf(index) &&
         llvm::all_of(graph.users[index][0],
                      [&](const auto &edge) { return edge.user == reader; });
}

SmallVector<const dist::Sharding *>
Alternatives::takenBeside(const ShardedGraph::OperandEdge &edge,
                          ArrayRef<OwnForm> own) {
  SmallVector<std::pair<ReaderForms::Place, const dist::Sharding *>> placed;
  for (const ReaderForms::ReaderForm &form :
       forms.of(edge.producer, edge.result))
    if (auto place = form.firstBeside(edge.user))
      placed.push_back({*place, &form.sharding});
  for (const OwnForm &form : own)
    placed.push_back({{edge.user, form.operand}, &form.sharding});
  llvm::sort(placed, llvm::less_first());
  return llvm::to_vector(llvm::make_second_range(placed));
}

/// Adds to `choice` the cost of a reshard of the operand to `to`, the sharding
/// in which the op needs the operand. There are three cases:
///
/// - The operand is a weight or a constant that only this op reads. It is
///   stored in the sharding `to`. No reshard is necessary, and the operand
///   costs only memory.
/// - Another operand, of this op or of another op, needs the same reshard. The
///   reshard then adds no time.
/// - In all other cases, the reshard costs time. It may start from the sharding
///   in which the value was computed, or from a sharding that another operand
///   needs.
bool Alternatives::priceOperand(const ShardedGraph::OperandEdge &edge,
                                const dist::Sharding &to, ArrayRef<OwnForm> own,
                                dist::Choice &choice) {
  const RankedTensorType type = graph::tensorType(graph.valueOf(edge));
  if (followsReader(edge.producer, edge.user) && !dist::hasView(to)) {
    choice.memoryBytes += localBytes(type, to);
    return true;
  }
  const dist::Sharding made =
      graph.ops[edge.producer].resultSharding(edge.result);
  SmallVector<const dist::Sharding *> sources{&made};
  const auto beside = takenBeside(edge, own);
  const bool isShared =
      llvm::any_of(beside, [&](const auto *form) { return *form == to; });
  for (const dist::Sharding *form : beside)
    if (!isShared && !dist::hasView(*form))
      sources.push_back(form);
  auto cheapest = llvm::min_element(sources, [&](const auto *a, const auto *b) {
    return priceOf(planner, type, *a, to) < priceOf(planner, type, *b, to);
  });
  return add(**cheapest, to, type, isShared, choice);
}

bool Alternatives::priceOperands(unsigned index, const ShardedOp &candidate,
                                 dist::Choice &choice) {
  // Maps a value to the shardings in which earlier operands of node `index`
  // read the value. The key is a pair of two numbers: the node that produces
  // the value, and the index of the result of this node.
  std::map<std::pair<unsigned, unsigned>, SmallVector<OwnForm>> own;
  for (const ShardedGraph::OperandEdge &edge : graph.operands[index]) {
    dist::Sharding to =
        dist::placement(candidate.operandSharding(edge.operand));
    SmallVector<OwnForm> &earlier = own[{edge.producer, edge.result}];
    if (!priceOperand(edge, to, earlier, choice))
      return false;
    if (llvm::none_of(earlier,
                      [&](const OwnForm &form) { return form.sharding == to; }))
      earlier.push_back({std::move(to), edge.operand});
  }
  return true;
}

/// Adds the cost of the reshards from the sharding of the result to the
/// shardings in `forms`, in which other ops read the result. A reshard starts
/// from the result itself or from the output of an earlier reshard. If the
/// other ops need at most 4 shardings, the reshards run in the cheapest order,
/// otherwise in the order of `forms`.
bool Alternatives::priceResult(unsigned index, unsigned result,
                               const ShardedOp &candidate,
                               dist::Choice &choice) {
  const dist::Sharding from = candidate.resultSharding(result);
  const Value value = graph.valueOf(index, result);
  choice.memoryBytes += localBytes(graph::tensorType(value), from);
  const RankedTensorType type = graph::tensorType(value);
  SmallVector<const dist::Sharding *> made{&from};
  for (const ReaderForms::ReaderForm &form : forms.of(index, result))
    made.push_back(&form.sharding);
  std::vector<std::vector<plan::Cost>> reform(made.size());
  for (size_t i = 0; i < made.size(); ++i)
    if (i == 0 || !dist::hasView(*made[i]))
      for (const dist::Sharding *to : ArrayRef(made).drop_front())
        reform[i].push_back(priceOf(planner, type, *made[i], *to));
  const auto order =
      plan::cheapestReshardOrder(reform, /*mostOrdered=*/4).steps;
  return llvm::all_of(order, [&](const plan::ReshardOrder::FormStep &step) {
    const size_t source =
        step.source == 0 ? 0 : order[step.source - 1].form + 1;
    return add(*made[source], *made[step.form + 1], type, /*isShared=*/false,
               choice);
  });
}

std::optional<dist::Choice> Alternatives::price(unsigned index,
                                                const ShardedOp &candidate) {
  dist::Choice choice;
  choice.picoseconds =
      static_cast<int64_t>(computePicoseconds(candidate, planner));
  if (!priceOperands(index, candidate, choice))
    return std::nullopt;
  for (const InnerReshard &inner : innerReshards(candidate))
    if (!add(
            planner.plan(inner.from, inner.to, inner.shape, inner.elementBytes),
            /*isShared=*/false, choice))
      return std::nullopt;
  for (unsigned i = 0; i < candidate.rule->results.size(); ++i)
    if (!priceResult(index, i, candidate, choice))
      return std::nullopt;
  return choice;
}

//===----------------------------------------------------------------------===//
// Words
//===----------------------------------------------------------------------===//

/// Returns `sharding` as text, without the time axis `mb`, which cuts the batch
/// into microbatches.
static std::string listed(const dist::Sharding &sharding,
                          const dist::Mesh &mesh) {
  return dist::toBriefString(dist::withoutTime(sharding), mesh);
}

/// Returns the name of `operand` in the user's model, in quotes; empty if
/// `operand` has no name.
static std::string nameOf(const ShardedGraph &graph, Value operand) {
  Operation *op = operand.getDefiningOp();
  Attribute name;
  if (auto get = dyn_cast_or_null<graph::GetParameterOp>(op))
    name = get.getParameterAttr().getAttr();
  else if (op)
    name = op->getAttr(graph::nameName);
  else
    name = graph.function.getArgAttr(
        cast<BlockArgument>(operand).getArgNumber(), graph::nameName);
  return name ? "'" + cast<StringAttr>(name).str() + "'" : "";
}

/// Returns whether `operand` is a weight of two or more dims.
static bool isMatrix(Value operand) {
  return operand.getDefiningOp<graph::GetParameterOp>() &&
         graph::tensorType(operand).getRank() > 1;
}

/// Returns a text such as "'w' as [-, tp]": a tensor that has the loop dim
/// `factor` of `op`, and its sharding. Prefers a weight, because --shard can
/// name it. If no tensor has the loop dim, returns "a dim of its own".
static std::string showFactor(const ShardedGraph &graph, const ShardedOp &op,
                              int factor, const dist::Mesh &mesh) {
  auto show = [&](unsigned operand, const std::string &name) {
    return name + " as " + listed(op.operandSharding(operand), mesh);
  };
  for (unsigned i = 0; i < op.rule->operands.size(); ++i)
    if (graph::occursIn(op.rule->operands[i], factor) &&
        isMatrix(op.op->getOperand(i)))
      return show(i, nameOf(graph, op.op->getOperand(i)));
  if (!op.rule->results.empty() &&
      graph::occursIn(op.rule->results[0], factor)) {
    dist::Sharding result = op.resultSharding(0);
    result.partials.clear();
    return "its result as " + listed(result, mesh);
  }
  for (unsigned i = 0; i < op.rule->operands.size(); ++i)
    if (graph::occursIn(op.rule->operands[i], factor)) {
      std::string name = nameOf(graph, op.op->getOperand(i));
      return show(i, name.empty() ? "operand " + std::to_string(i) : name);
    }
  return "a dim of its own";
}

/// Returns whether loop dim `factor` of `op` counts the keys of an attention
/// that can run as ring attention. `pcc explain` lists only the dim of the
/// queries, because the same mesh axis splits both dims.
static bool isGuest(const ShardedOp &op, size_t factor) {
  auto ring = ringOf(op);
  return ring && ring->keys == static_cast<int>(factor);
}

std::string Alternatives::describe(const ShardedOp &candidate,
                                   const dist::Axis &axis) const {
  SmallVector<std::string> parts;
  for (auto [i, axes] : llvm::enumerate(candidate.axes)) {
    if (!dist::holdsAxis(axes, axis.name) || isGuest(candidate, i))
      continue;
    const auto &factor = candidate.rule->factors[i];
    std::string part = showFactor(graph, candidate, i, planner.mesh());
    if (graph::isReduction(factor.kind))
      part += std::string(", leaving partial ") +
              dist::toString(reductionOf(factor.kind)) + "s";
    if (factor.kind == graph::FactorKind::Inner)
      part += ", whose parts exchange what they need";
    if (!ringAxes(candidate).empty())
      part += ", which keys and values visit in a ring";
    // If `axis` splits two dims of one tensor, both can give the same text.
    // List this text only once.
    if (!llvm::is_contained(parts, part))
      parts.push_back(std::move(part));
  }
  if (parts.empty() && dist::holdsAxis(candidate.through, axis.name))
    return "pass the partial sum on";
  std::string text =
      parts.empty() ? "split nothing" : "split " + llvm::join(parts, " and ");
  return text +
         (candidate.usesAllWindows ? ", reading just what it needs" : "");
}

std::string Alternatives::wholeWeight(unsigned index, const ShardedOp &base,
                                      const ShardedOp &candidate,
                                      const dist::Axis &axis) const {
  const dist::SubAxis first = seeds.partsOf(axis).front();
  if (!weights.mustSplit(base, index, first) ||
      weights.splits(candidate, index, first))
    return "";
  if (auto get = dyn_cast<graph::GetParameterOp>(candidate.op))
    return nameOf(graph, get);
  for (Value operand : candidate.op->getOperands())
    if (operand.getDefiningOp<graph::GetParameterOp>() &&
        weights.bytes(graph.opOf(operand)) > 0)
      return nameOf(graph, operand);
  return "its weight";
}

std::string Alternatives::refusal(unsigned index, const ShardedOp &base,
                                  const ShardedOp &candidate,
                                  const dist::Axis &axis) const {
  const AxisRole role = roleOf(axis.name);
  if (role != AxisRole::Tensor && stored.contains(index) &&
      !candidate.isSplitBy(axis)) {
    // A gradient has no name in the model.
    const std::string name = nameOf(graph, candidate.op->getResult(0));
    return (name.empty() ? "its result" : name) +
           " would be stored whole on every rank of " + axis.name +
           ", which has to divide it";
  }
  for (size_t i = 0; i < candidate.axes.size(); ++i)
    if (dist::holdsAxis(candidate.axes[i], axis.name) &&
        !mayTake(graph, index, {Strategy::Split, static_cast<int>(i)}, role))
      return axis.name + (role != AxisRole::Tensor ? " splits nothing else"
                          : graph.tags[index][i] == FactorTag::Stripe
                              ? " never splits stripes"
                              : " never splits the batch");
  if (role != AxisRole::Tensor)
    return "";
  std::string weight = wholeWeight(index, base, candidate, axis);
  if (!weight.empty())
    return weight + " would be whole on every rank of " + axis.name +
           ", which has to divide it";
  return megatron.isBroken(index, candidate, seeds.partsOf(axis).front())
             ? "--preset asks for something else"
             : "";
}

//===----------------------------------------------------------------------===//
// Decisions
//===----------------------------------------------------------------------===//

/// Returns the key by which alternatives are sorted in ascending order.
/// Alternatives that the search may choose come before refused ones, and faster
/// alternatives before slower ones.
static auto rankOf(const dist::Choice &choice) {
  return std::tuple(!choice.refused.empty(), choice.picoseconds,
                    choice.receivedBytes(), choice.calls(), choice.memoryBytes,
                    StringRef(choice.what));
}

dist::Decision Alternatives::decisionOf(unsigned index, const dist::Axis &axis,
                                        dist::Choice chosen) {
  const ShardedOp &own = graph.ops[index];
  const ShardedOp base = withoutAxis(own, axis);
  dist::Decision decision{
      own.op->getName().stripDialect().str(), axis.name, std::move(chosen), {}};
  decision.chosen.what = describe(own, axis);
  SmallVector<SmallVector<dist::Sharding>> seen{placementsOf(own)};
  const auto any = [&](const Strategy &strategy) {
    return strategy.kind != Strategy::Ring ||
           mayTake(graph, index, strategy, roleOf(axis.name));
  };
  for (ShardedOp &candidate :
       candidatesOf(base, seeds.partsOf(axis), seeds, any)) {
    order(candidate, own, axis, planner.mesh());
    if (!batchOrder.isKept(index, candidate) ||
        makesPartial(graph, index, candidate, axis))
      continue;
    SmallVector<dist::Sharding> placements = placementsOf(candidate);
    if (llvm::is_contained(seen, placements))
      continue;
    seen.push_back(std::move(placements));
    std::string refused = refusal(index, base, candidate, axis);
    // `pcc explain` lists refused candidates with the reason. It leaves out a
    // candidate in which `axis` splits a dim that it must never split, such as
    // `dp` a dim other than the batch. refusal() marks these candidates by this
    // text.
    if (StringRef(refused).ends_with("splits nothing else"))
      continue;
    if (auto choice = price(index, candidate)) {
      choice->what = describe(candidate, axis);
      choice->refused = std::move(refused);
      decision.others.push_back(std::move(*choice));
    }
  }
  llvm::sort(decision.others, [](const auto &a, const auto &b) {
    return rankOf(a) < rankOf(b);
  });
  if (decision.others.size() > mostKept)
    decision.others.resize(mostKept);
  return decision;
}

std::vector<dist::Decision> Alternatives::decisionsAt(unsigned index) {
  std::vector<dist::Decision> decisions;
  const ShardedOp &op = graph.ops[index];
  if (!op.op || graph.seedOf(index) ||
      !isa<graph::ShardingRuleOpInterface>(op.op))
    return decisions;
  auto chosen = price(index, op);
  if (!chosen)
    return decisions;
  const bool isContraction =
      op.op->getNumOperands() > 0 && weights.bytes(index) > 0;
  for (const dist::Axis &axis : planner.mesh().axes)
    if (axis.size > 1 && axis.name != dist::timeAxis &&
        (isContraction ||
         llvm::any_of(chosen->steps, [&](const dist::PricedStep &step) {
           return llvm::is_contained(step.axes, axis.name);
         })))
      decisions.push_back(decisionOf(index, axis, *chosen));
  return decisions;
}
