//===- PartialCheck.cpp - type check of partial sums in local functions ---===//

#include "passes/5-localize/PartialCheck.h"
#include "dialects/dist/DistDialect.h"
#include "dialects/graph/GraphDialect.h"
#include "dialects/pipe/PipeDialect.h"
#include "passes/5-localize/LocalBuilder.h"
#include "sharding/ShardingText.h"
#include "status/Counted.h"

#include <map>
#include <optional>

using namespace mlir;
using namespace pcc;
using graph::ShardingRule;
/// List of the pending reductions of a value. For example, sum(tp) is pending
/// for a value if each rank along the mesh axis tp holds one addend of the
/// value. The checks in this file work like a type check. The type of a value
/// is its list of pending reductions, and each op must give its result the type
/// that follows from its operands.
using Partials = std::vector<dist::Partial>;

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

/// Returns a canonical list of pending reductions over ranks, such as sum(tp):
/// two lists with the same meaning become equal. Removes reductions over the
/// axis `mb`. The coordinates along `mb` are microbatches, not ranks, so no
/// collective performs these reductions.
static Partials normal(Partials partials) {
  llvm::erase_if(partials, [](const dist::Partial &partial) {
    return partial.axis.axis == dist::timeAxis;
  });
  dist::Sharding sharding;
  sharding.partials = std::move(partials);
  return dist::canonical(sharding).partials;
}

/// Returns the partials (pending reductions over ranks) of `value`; nullopt if
/// `value` has no sharding.
static std::optional<Partials> typeOf(Value value) {
  dist::ShardingAttr sharding = dist::shardingOf(value);
  return sharding ? std::optional(normal(sharding.getSharding().partials))
                  : std::nullopt;
}

/// Returns whether the list `all` of pending reductions over ranks contains the
/// reduction `part`, alone or within another reduction. For example, a mesh
/// axis tp of size 4 consists of two sub-axes of size 2. A list with the sum
/// over tp contains the sum over each sub-axis, but not the max over tp.
static bool holds(const Partials &all, const dist::Partial &part) {
  return llvm::any_of(all, [&](const dist::Partial &partial) {
    return partial.kind == part.kind &&
           dist::overlap(partial.axis, part.axis) == part.axis;
  });
}

/// Formats partials (pending reductions) for messages, such as "sum(tp)";
/// "none" for an empty list. `op` lies in a module with a mesh.
static std::string textOf(const Partials &partials, Operation *op) {
  const dist::Mesh mesh = dist::meshOf(op->getParentOfType<ModuleOp>());
  std::string text;
  for (const dist::Partial &partial : partials)
    text += (text.empty() ? "" : " ") +
            std::string(dist::toString(partial.kind)) + "(" +
            dist::toString(partial.axis, &mesh) + ")";
  return text.empty() ? "none" : text;
}

//===----------------------------------------------------------------------===//
// Effect of ops on types
//===----------------------------------------------------------------------===//

/// Returns whether `value` is known to need a reduction.
static bool isPartial(Value value) {
  const auto type = typeOf(value);
  return type && !type->empty();
}

/// Returns whether `op` is linear in the operand with the index `operand`. A
/// partial sum (one addend per rank) may then pass from this operand to the
/// result. For example, select(c, x, 0) is linear in x, and so is a scatter of
/// x into zeros. select(c, x, y) is linear in x and y together.
static bool lets(Operation *op, const ShardingRule &rule, unsigned operand) {
  if (isa<graph::SelectOp>(op)) {
    const Value other = op->getOperand(operand == 0 ? 0 : 3 - operand);
    return operand > 0 && (localize::isZero(other) || isPartial(other));
  }
  if (isa<graph::ScatterNdOp, graph::ScatterElementsOp>(op))
    return operand == 2 && localize::isZero(op->getOperand(0));
  return llvm::is_contained(rule.partialThrough, static_cast<int>(operand));
}

/// Returns the pending reductions that the result of `op` takes over from its
/// operands. Emits an error and fails in each of these cases:
///
/// - A pending reduction is not a sum.
/// - Two operands have different pending reductions.
/// - `op` is not linear in the operands that have pending reductions.
/// - `op` adds a complete value to a value with a pending reduction.
static FailureOr<Partials> flowOf(Operation *op, const ShardingRule &rule) {
  std::optional<Partials> flow;
  int numPartial = 0;
  for (OpOperand &operand : op->getOpOperands()) {
    auto type = typeOf(operand.get());
    if (!type || type->empty())
      continue;
    for (const dist::Partial &partial : *type)
      if (partial.kind != dist::ReductionKind::Sum ||
          !lets(op, rule, operand.getOperandNumber()))
        return op->emitOpError("reads operand ")
                   << operand.getOperandNumber() << ", which is partial "
                   << textOf(*type, op) << ", before it is reduced",
               failure();
    if (flow && *flow != *type)
      return op->emitOpError("mixes ")
                 << textOf(*flow, op) << " and " << textOf(*type, op),
             failure();
    flow = *type;
    ++numPartial;
  }
  const auto isKnown = [](Value value) { return typeOf(value).has_value(); };
  if (numPartial > 1 && !rule.partialTogether && !isa<graph::SelectOp>(op))
    return op->emitOpError("reads ")
               << counted(numPartial, "operand") << " that are partial "
               << textOf(*flow, op) << "; it is linear in one only",
           failure();
  // A sum must not add a complete value to partial values: the later reduction
  // would count the complete value once per rank.
  if (numPartial > 0 && rule.partialTogether &&
      numPartial != static_cast<int>(op->getNumOperands()) &&
      llvm::all_of(op->getOperands(), isKnown))
    return op->emitOpError("adds a complete value to partial ")
               << textOf(*flow, op) << " on every rank",
           failure();
  return flow.value_or(Partials());
}

namespace {
/// Reductions over ranks that begin in one op. Example: a matmul whose
/// contracted dim is split over `tp` begins the reduction sum(tp).
struct StartedReductions {
  /// Reductions over ranks that begin in the op. Example: tp splits the
  /// contracted dim in both operands of a matmul. Each rank computes one addend
  /// of the result, so the reduction sum(tp) begins. The sharding of the result
  /// must list all reductions in `certain`.
  Partials certain;
  /// Mesh axes over which the op may begin a reduction. The shardings of the
  /// operands do not tell whether the reduction begins. The sharding of the
  /// result may therefore list the reduction, or may not list it. The check
  /// accepts both. Example: tp splits the contracted dim in only one operand of
  /// a matmul. `possible` then contains tp. The check accepts a result with the
  /// reduction sum(tp), and it accepts a result without this reduction.
  dist::SubAxes possible;
  /// True if an operand of the op has no sharding. The check then accepts any
  /// pending reduction of the result.
  bool anything = false;
};
} // namespace

/// Returns a map with an entry for each loop dim that `op` reduces. The key is
/// the index of the loop dim in `rule.factors`. The value has one element for
/// each operand with this loop dim: the mesh axes that split it, or nullopt if
/// they are unknown, because the operand has no sharding or is read in windows.
/// For example, a matmul whose contracted loop dim 2 is split over tp in both
/// operands has the entry 2: {{tp}, {tp}}. Skips tensor dims that consist of
/// several loop dims.
static std::map<int, SmallVector<std::optional<dist::SubAxes>, 2>>
reducedDims(Operation *op, const ShardingRule &rule) {
  std::map<int, SmallVector<std::optional<dist::SubAxes>, 2>> splits;
  for (auto [operand, dims] : llvm::zip(op->getOperands(), rule.operands)) {
    dist::ShardingAttr attribute = dist::shardingOf(operand);
    const dist::Sharding sharding = attribute
                                        ? attribute.getSharding()
                                        : dist::Sharding::whole(dims.size());
    for (auto [dim, split] : llvm::zip(dims, sharding.dims))
      if (dim.size() == 1 && isReduction(rule.factors[dim.front()].kind))
        splits[dim.front()].push_back(attribute && !split.view
                                          ? std::optional(split.axes())
                                          : std::nullopt);
  }
  return splits;
}

bool localize::dividesGroups(Operation *op, const dist::SubAxis &axis) {
  if (!isa<graph::ConvOp, graph::ConvTransposeOp,
           graph::AttentionKeyGradientOp>(op))
    return false;
  dist::ShardingAttr sharding = dist::shardingOf(op->getResult(0));
  return sharding && llvm::any_of(sharding.getSharding().dims[1].axes(),
                                  [&](const dist::SubAxis &other) {
                                    return dist::overlaps(axis, other);
                                  });
}

/// Returns the reductions over ranks that begin in `op`. For example, a matmul
/// that sums over k begins sum(tp) if tp splits k in both operands.
///
/// - `certain`: the axes that split a reduced loop dim, if they split this loop
///   dim in all operands, and if dividesGroups() is false for them.
/// - `possible`: all other axes that split a reduced loop dim in some operand.
///   Also the axes that split a tensor dim that consists of several loop dims,
///   in the whole op or on a rank, or of none.
/// - `anything`: true if an operand has no sharding.
static StartedReductions startedReductionsOf(Operation *op,
                                             const ShardingRule &rule) {
  StartedReductions found;
  for (const auto &[factor, splits] : reducedDims(op, rule))
    for (const auto &split : splits) {
      const bool isCertain = llvm::all_of(
          splits, [&](const auto &other) { return other && *other == split; });
      for (const dist::SubAxis &axis : split.value_or(dist::SubAxes()))
        if (isCertain && !localize::dividesGroups(op, axis))
          found.certain.push_back(
              {axis, reductionOf(rule.factors[factor].kind)});
        else
          found.possible.push_back(axis);
    }
  for (auto [operand, dims] : llvm::zip(op->getOperands(), rule.operands)) {
    dist::ShardingAttr sharding = dist::shardingOf(operand);
    found.anything |= !sharding;
    if (!sharding)
      continue;
    const dist::Sharding lies = sharding.getSharding();
    // The rule is that of the local op. It lacks a loop dim of which each rank
    // has one index, but the sharding of the tensor dim still has its factor.
    for (auto [dim, split] : llvm::zip(dims, lies.dims))
      if (dim.size() != 1 || split.factors.size() > 1)
        llvm::append_range(found.possible, split.axes());
  }
  found.certain = normal(found.certain);
  return found;
}

/// Checks that result 0 of `op` has exactly the pending reductions of its
/// operands (`flow`) and those that begin in `op`. Emits an error if not.
/// Accepts a result without a sharding.
static LogicalResult checkResult(Operation *op, const ShardingRule &rule,
                                 const Partials &flow) {
  const auto type = typeOf(op->getResult(0));
  if (!type)
    return success();
  for (const dist::Partial &partial : flow)
    if (!holds(*type, partial))
      return op->emitOpError("reads partial ")
             << textOf({partial}, op) << ", but its result does not record it";
  const StartedReductions begun = startedReductionsOf(op, rule);
  for (const dist::Partial &partial : begun.certain)
    if (!holds(*type, partial))
      return op->emitOpError("reduces a dim that ranks divide, but its result "
                             "is not partial ")
             << textOf({partial}, op);
  Partials expected = flow;
  llvm::append_range(expected, begun.certain);
  expected = normal(expected);
  for (const dist::Partial &partial : *type)
    if (!holds(expected, partial) && !begun.anything &&
        llvm::none_of(begun.possible, [&](const dist::SubAxis &axis) {
          return dist::overlaps(axis, partial.axis);
        }))
      return op->emitOpError("is marked partial ")
             << textOf({partial}, op) << ", but no reduction causes it";
  return success();
}

/// Checks that a mean over split dims divides by the global number of elements.
/// Emits an error if not.
static LogicalResult checkMean(graph::ReduceOp op) {
  dist::ShardingAttr sharding = dist::shardingOf(op.getInput());
  if (op.getKind() != graph::ReduceKind::Mean || !sharding)
    return success();
  const dist::Sharding lies = sharding.getSharding();
  int64_t all = 1, here = 1;
  for (int64_t dim : op.getDims()) {
    const dist::DimSharding &split = lies.dims[dim];
    const int64_t size = graph::tensorType(op.getInput()).getDimSize(dim);
    int64_t whole = 1;
    for (const dist::Factor &factor : split.factors)
      whole *= factor.size;
    all *= split.factors.empty() ? size : whole;
    here *= size;
  }
  const int64_t divisor =
      op.getDivisor() ? static_cast<int64_t>(*op.getDivisor()) : here;
  if (divisor != all)
    return op.emitOpError("divides by ")
           << divisor << ", but all ranks have " << counted(all, "element");
  return success();
}

//===----------------------------------------------------------------------===//
// Checks of single ops
//===----------------------------------------------------------------------===//

/// Checks a transfer, an op that sends a value from one pipeline stage to
/// another stage. The operand is the value on the sending stage. The result is
/// the value on the receiving stage. Emits an error if the operand and the
/// result have different pending reductions. For example, sum(tp) is pending
/// for a value if each rank along the mesh axis tp holds one addend of the
/// value. Emits no error if the operand or the result has no sharding.
static LogicalResult checkTransfer(pipe::TransferOp op) {
  const auto sent = typeOf(op.getInput()), received = typeOf(op.getResult());
  if (sent && received && *sent != *received)
    return op.emitOpError("sends a value with partial ")
           << textOf(*sent, op) << ", which arrives with partial "
           << textOf(*received, op) << " instead";
  return success();
}

/// Checks the pending reductions, such as sum(tp), of the operands and results
/// of `op`. Emits an error and fails if a check fails. An op without a sharding
/// rule must not read a value with a pending reduction. Skips collectives,
/// which checkCollectives() checks.
static LogicalResult checkOp(Operation *op) {
  if (auto transfer = dyn_cast<pipe::TransferOp>(op))
    return checkTransfer(transfer);
  // Functions of 6-schedule, one per action of a stage, may pass values to each
  // other that still need a reduction over ranks.
  if (isa<dist::CollectiveOp, pipe::SendOp>(op) ||
      (isa<func::ReturnOp>(op) && op->getParentOp()->hasAttr(pipe::stageName)))
    return success();
  auto ruled = dyn_cast<graph::ShardingRuleOpInterface>(op);
  if (!ruled) {
    for (Value operand : op->getOperands())
      if (auto type = typeOf(operand); type && !type->empty())
        return op->emitOpError("reads a value that is partial ")
               << textOf(*type, op) << ", but has no sharding rule";
    return success();
  }
  const ShardingRule rule = ruled.getShardingRule();
  auto flow = flowOf(op, rule);
  if (failed(flow) ||
      (op->getNumResults() > 0 && failed(checkResult(op, rule, *flow))))
    return failure();
  auto reduce = dyn_cast<graph::ReduceOp>(op);
  return reduce ? checkMean(reduce) : success();
}

LogicalResult pcc::localize::checkPartials(func::FuncOp function) {
  for (Operation &op : function.front())
    if (failed(checkOp(&op)))
      return failure();
  return success();
}
