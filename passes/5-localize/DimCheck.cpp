//===- DimCheck.cpp - check of the split dims of local values -------------===//

#include "passes/5-localize/DimCheck.h"
#include "dialects/dist/BriefText.h"
#include "dialects/graph/GraphDialect.h"
#include "passes/5-localize/PartialCheck.h"
#include "status/Counted.h"

#include <map>

using namespace mlir;
using namespace pcc;
using graph::ShardingRule;

/// Checks that the local type of `value`, a result of `op`, has the sizes that
/// its sharding gives. A dim that no axis splits may have any size.
static LogicalResult checkSizes(Operation *op, Value value) {
  dist::ShardingAttr sharding = dist::shardingOf(value);
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!sharding || !type)
    return success();
  for (auto [i, dim] : llvm::enumerate(sharding.getSharding().dims)) {
    int64_t whole = 1;
    for (const dist::Factor &factor : dim.factors)
      whole *= factor.size;
    const int64_t size = type.getDimSize(i);
    if (!dim.factors.empty() && dist::localDim(dim, whole) != size)
      return op->emitOpError("has a result ")
             << type << ", but a shard of " << dist::briefText(sharding, op)
             << " has " << counted(dist::localDim(dim, whole), "element")
             << " along dim " << i;
  }
  return success();
}

namespace {
/// A dim of an operand or result of an op, and its sharding.
struct SplitDim {
  const char *what; ///< "operand" or "result"
  size_t number, dim;
  dist::DimSharding sharding;

  /// Returns whether the dim counts channels, if the op is a convolution: of
  /// its input, or of its filters.
  bool isChannels() const {
    return StringRef(what) == "operand" &&
           ((number == 0 && dim == 1) || (number == 1 && dim < 2));
  }
};
} // namespace

/// Dims of the tensors of an op by the loop dim that they consist of.
using DimsByLoop = std::map<int, std::vector<SplitDim>>;

/// Adds the dims of the tensors `values` to `dims`. Skips dims that consist of
/// several loop dims or are read in windows, and values without a sharding. A
/// dim can have several factors and one local loop dim: a rank may hold one
/// element along each of the other loop dims.
static void addDims(const char *what, ValueRange values,
                    ArrayRef<ShardingRule::TensorFactors> factors,
                    DimsByLoop &dims) {
  for (auto [i, value, loops] : llvm::enumerate(values, factors)) {
    dist::ShardingAttr attribute = dist::shardingOf(value);
    if (!attribute)
      continue;
    const dist::Sharding sharding = dist::withoutTime(attribute.getSharding());
    for (auto [d, loop, split] : llvm::enumerate(loops, sharding.dims))
      if (loop.size() == 1 && split.factors.size() <= 1 && !split.view)
        dims[loop.front()].push_back({what, i, d, split});
  }
}

/// Returns whether ranks divide the groups of the grouped convolution `op`. A
/// rank then holds the input channels of its groups, and filters that read all
/// channels of a group.
static bool dividesGroups(Operation *op) {
  if (!isa<graph::ConvOp, graph::ConvTransposeOp>(op))
    return false;
  dist::ShardingAttr input = dist::shardingOf(op->getOperand(0));
  return input && llvm::any_of(input.getSharding().dims[1].axes(),
                               [&](const dist::SubAxis &axis) {
                                 return localize::dividesGroups(op, axis);
                               });
}

static std::string textOf(const SplitDim &dim, Operation *op) {
  return ("dim " + Twine(dim.dim) + " of " + dim.what + " " +
          Twine(dim.number) + " as " +
          dist::briefText(dist::Sharding{{dim.sharding}, {}, {}}, op))
      .str();
}

/// Returns the number of parts into which each mesh axis splits a value.
static std::map<std::string, int64_t> partsByAxis(dist::ShardingAttr sharding) {
  std::map<std::string, int64_t> parts;
  for (const dist::SubAxis &axis :
       dist::splitAxes(dist::withoutTime(sharding.getSharding())))
    parts.try_emplace(axis.axis, 1).first->second *= axis.size;
  return parts;
}

/// Checks that the same axes split the operand and the result of a reshape. Its
/// loop dims do not tell more: those of the local tensors may be other ones
/// than those of the global tensors.
static LogicalResult checkReshape(graph::ReshapeOp op) {
  const auto given = dist::shardingOf(op.getInput()),
             made = dist::shardingOf(op.getResult());
  if (!given || !made || partsByAxis(given) == partsByAxis(made))
    return success();
  return op.emitOpError("gives ")
         << dist::briefText(made, op)
         << ", but other axes split its operand, which is "
         << dist::briefText(given, op);
}

/// Checks that all operands and results of `op` are split alike along each loop
/// dim.
static LogicalResult checkOp(Operation *op) {
  if (auto reshape = dyn_cast<graph::ReshapeOp>(op))
    return checkReshape(reshape);
  auto ruled = dyn_cast<graph::ShardingRuleOpInterface>(op);
  if (!ruled)
    return success();
  const ShardingRule rule = ruled.getShardingRule();
  DimsByLoop dims;
  addDims("operand", op->getOperands(), rule.operands, dims);
  addDims("result", op->getResults(), rule.results, dims);
  const bool hasGroups = dividesGroups(op);
  for (auto &[loop, alike] : dims) {
    llvm::erase_if(alike, [&](const SplitDim &dim) {
      return hasGroups && dim.isChannels();
    });
    for (const SplitDim &other : alike)
      if (other.sharding != alike.front().sharding)
        return op->emitOpError("takes ")
               << textOf(alike.front(), op) << ", but " << textOf(other, op)
               << ", whose elements belong together";
  }
  return success();
}

LogicalResult pcc::localize::checkDims(func::FuncOp function) {
  for (Operation &op : function.front()) {
    for (Value result : op.getResults())
      if (failed(checkSizes(&op, result)))
        return failure();
    if (failed(checkOp(&op)))
      return failure();
  }
  return success();
}
