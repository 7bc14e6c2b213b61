//===- PartialCheck.cpp - type check of partial sums in local functions ---===//

#include "passes/5-localize/PartialCheck.h"
#include "dialects/dist/DistDialect.h"
#include "dialects/graph/GraphDialect.h"
#include "dialects/pipe/PipeDialect.h"
#include "passes/5-localize/LocalBuilder.h"
#include "sharding/ShardingText.h"

#include <map>
#include <optional>

using namespace mlir;
using namespace pcc;
using graph::ShardingRule;
/// The partials of a value: its pending reductions over ranks, such as sum(tp).
/// This check treats them as the value's type.
using Partials = std::vector<dist::Partial>;

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

/// Returns partials (pending reductions) in canonical form, so that equal lists
/// compare equal. Drops partials over the time axis (microbatches), because no
/// collective reduces them.
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

/// Returns whether `all` contains the partial (pending reduction) `part`. This
/// is true if an entry has the kind of `part` and an axis that includes the
/// axis of `part`.
static bool holds(const Partials &all, const dist::Partial &part) {
  return llvm::any_of(all, [&](const dist::Partial &partial) {
    return partial.kind == part.kind &&
           dist::overlap(partial.axis, part.axis) == part.axis;
  });
}

/// Formats partials (pending reductions) for messages, such as "sum(tp)";
/// "none" for an empty list.
static std::string textOf(const Partials &partials) {
  std::string text;
  for (const dist::Partial &partial : partials)
    text += (text.empty() ? "" : " ") +
            std::string(dist::toString(partial.kind)) + "(" +
            dist::toString(partial.axis) + ")";
  return text.empty() ? "none" : text;
}

//===----------------------------------------------------------------------===//
// Effect of ops on types
//===----------------------------------------------------------------------===//

/// Returns whether `op` is linear in the operand with the index `operand`. A
/// partial sum (one addend per rank) may then pass from this operand to the
/// result. For example, select(c, x, 0) is linear in x, and so is a scatter of
/// x into zeros.
static bool lets(Operation *op, const ShardingRule &rule, unsigned operand) {
  if (auto select = dyn_cast<graph::SelectOp>(op))
    return operand > 0 && localize::isZero(select->getOperand(3 - operand));
  if (isa<graph::ScatterNdOp, graph::ScatterElementsOp>(op))
    return operand == 2 && localize::isZero(op->getOperand(0));
  return llvm::is_contained(rule.partialThrough, static_cast<int>(operand));
}

/// Returns the partials (pending reductions over ranks) that pass from the
/// operands of `op` to its results. Emits an error unless `op` is linear in
/// these operands.
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
                   << textOf(*type) << ", before it is reduced",
               failure();
    if (flow && *flow != *type)
      return op->emitOpError("mixes ")
                 << textOf(*flow) << " and " << textOf(*type),
             failure();
    flow = *type;
    ++numPartial;
  }
  const auto isKnown = [](Value value) { return typeOf(value).has_value(); };
  if (numPartial > 1 && !rule.partialTogether)
    return op->emitOpError("reads ")
               << numPartial << " operands that are partial " << textOf(*flow)
               << "; it is linear in one only",
           failure();
  if (numPartial > 0 && rule.partialTogether &&
      numPartial != static_cast<int>(op->getNumOperands()) &&
      llvm::all_of(op->getOperands(), isKnown))
    return op->emitOpError("adds a complete value to partial ")
               << textOf(*flow) << " on every rank",
           failure();
  return flow.value_or(Partials());
}

namespace {
/// Reductions over ranks that begin in one op. Example: a matmul whose
/// contracted dim is split over `tp` begins the reduction sum(tp).
struct StartedReductions {
  /// Reductions that the result's sharding must contain.
  Partials certain;
  /// Axes over which a reduction may begin in the op, but need not. Example: an
  /// axis that splits the reduced dim in only one of two operands.
  dist::SubAxes possible;
  /// True if an operand of the op has no sharding. The check then accepts any
  /// pending reduction of the result.
  bool anything = false;
};
} // namespace

/// Finds the dims that `op` reduces, and the axes that split them. A key of the
/// result is a factor of the sharding rule (a loop index, like a letter of an
/// einsum). The value lists the axes for each operand:
///
///   matmul [m, 64@tp] x [64@tp, n]   k -> {tp}, {tp}
///
/// The axes are nullopt for an operand that has no sharding or that `op` reads
/// through a view (halo exchange). Skips dims that consist of several factors.
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

/// Returns whether `axis` splits the groups of a convolution or the key heads
/// of an attention key gradient. These are dim 1 of the result of `op`. Returns
/// false for all other ops.
static bool dividesGroups(Operation *op, const dist::SubAxis &axis) {
  if (!isa<graph::ConvOp, graph::ConvTransposeOp,
           graph::AttentionKeyGradientOp>(op))
    return false;
  dist::ShardingAttr sharding = dist::shardingOf(op->getResult(0));
  return sharding && llvm::any_of(sharding.getSharding().dims[1].axes(),
                                  [&](const dist::SubAxis &other) {
                                    return dist::overlaps(axis, other);
                                  });
}

/// Returns the reductions over ranks that begin in `op`, because `op` reduces a
/// dim that ranks split. The reduction over an axis is *certain* under two
/// conditions:
///
/// - The axis splits the dim in the same way in all operands.
/// - The axis splits no groups or key heads (see dividesGroups).
///
/// Any other reduction is *possible*: the result may have it or not.
static StartedReductions startedReductionsOf(Operation *op,
                                             const ShardingRule &rule) {
  StartedReductions found;
  for (const auto &[factor, splits] : reducedDims(op, rule))
    for (const auto &split : splits) {
      const bool isCertain = llvm::all_of(
          splits, [&](const auto &other) { return other && *other == split; });
      for (const dist::SubAxis &axis : split.value_or(dist::SubAxes()))
        if (isCertain && !dividesGroups(op, axis))
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
    for (auto [dim, split] : llvm::zip(dims, lies.dims))
      if (dim.size() != 1)
        llvm::append_range(found.possible, split.axes());
  }
  found.certain = normal(found.certain);
  return found;
}

/// Checks the partials (pending reductions over ranks) of result 0 of `op`.
/// Each partial must come from an operand (`flow`) or begin in `op`. Emits an
/// error if a partial has neither origin, or if one is missing.
static LogicalResult checkResult(Operation *op, const ShardingRule &rule,
                                 const Partials &flow) {
  const auto type = typeOf(op->getResult(0));
  if (!type)
    return success();
  for (const dist::Partial &partial : flow)
    if (!holds(*type, partial))
      return op->emitOpError("reads partial ")
             << textOf({partial}) << ", but its result does not record it";
  const StartedReductions begun = startedReductionsOf(op, rule);
  for (const dist::Partial &partial : begun.certain)
    if (!holds(*type, partial))
      return op->emitOpError("reduces a dim that ranks divide, but its result "
                             "is not partial ")
             << textOf({partial});
  Partials expected = flow;
  llvm::append_range(expected, begun.certain);
  expected = normal(expected);
  for (const dist::Partial &partial : *type)
    if (!holds(expected, partial) && !begun.anything &&
        llvm::none_of(begun.possible, [&](const dist::SubAxis &axis) {
          return dist::overlaps(axis, partial.axis);
        }))
      return op->emitOpError("is marked partial ")
             << textOf({partial}) << ", but no reduction causes it";
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
           << divisor << ", but there are " << all << " elements on all ranks";
  return success();
}

//===----------------------------------------------------------------------===//
// Checks of single ops
//===----------------------------------------------------------------------===//

/// Checks that a collective's attribute `from` lists the partials (pending
/// reductions) of its operand. Emits an error if not.
static LogicalResult checkCollective(dist::CollectiveOp op) {
  const auto type = typeOf(op.getInput());
  const Partials from = normal(op.getFrom().getSharding().partials);
  if (type && *type != from)
    return op.emitOpError("starts from partial ")
           << textOf(from) << ", but the partial of its operand is "
           << textOf(*type);
  return success();
}

/// Checks that a value sent from stage to stage has equal partials (pending
/// reductions) on both. Emits an error if not.
static LogicalResult checkTransfer(pipe::TransferOp op) {
  const auto sent = typeOf(op.getInput()), received = typeOf(op.getResult());
  if (sent && received && *sent != *received)
    return op.emitOpError("sends a value with partial ")
           << textOf(*sent) << ", which arrives with partial "
           << textOf(*received) << " instead";
  return success();
}

/// Checks one op. An op without a sharding rule must not read a partial value.
/// Emits an error if a check fails.
static LogicalResult checkOp(Operation *op) {
  if (auto transfer = dyn_cast<pipe::TransferOp>(op))
    return checkTransfer(transfer);
  if (auto collective = dyn_cast<dist::CollectiveOp>(op))
    return checkCollective(collective);
  auto ruled = dyn_cast<graph::ShardingRuleOpInterface>(op);
  if (!ruled) {
    for (Value operand : op->getOperands())
      if (auto type = typeOf(operand); type && !type->empty())
        return op->emitOpError("reads a value that is partial ")
               << textOf(*type) << ", but has no sharding rule";
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
