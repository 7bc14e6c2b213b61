//===- ShardedOpAttrs.cpp - ShardedOp to op attributes and back -----------===//

#include "passes/4-shard/graph/ShardedOpAttrs.h"

#include <cassert>

using namespace mlir;
using namespace pcc;
using namespace pcc::shard;

static SmallVector<int64_t> sizesOf(const dist::DimSharding &dim) {
  SmallVector<int64_t> sizes;
  for (const dist::Factor &factor : dim.factors)
    sizes.push_back(factor.size);
  return sizes;
}

/// Returns the windows that `op` uses, as indices into `op.rule->windows`. A
/// window is the range of an operand's dim that the op reads (see
/// ShardedOp::uses).
static SmallVector<int64_t> windowsOf(const ShardedOp &op) {
  SmallVector<int64_t> windows;
  for (auto [i, window] : llvm::enumerate(op.rule->windows))
    if (op.uses(window))
      windows.push_back(i);
  return windows;
}

/// Sets `op.usesAllWindows` to whether the attribute `dist.windows` lists all
/// windows of the op's rule. A window is the range of an operand's dim that the
/// op reads. Then fails if ShardedOp::uses() returns true for other windows
/// than those in the attribute.
static LogicalResult readWindows(ShardedOp &op) {
  auto windows = op.op->getAttrOfType<DenseI64ArrayAttr>(dist::windowsName);
  ArrayRef<int64_t> recorded =
      windows ? windows.asArrayRef() : ArrayRef<int64_t>();
  op.usesAllWindows = windows && recorded.size() == op.rule->windows.size();
  return success(ArrayRef<int64_t>(windowsOf(op)) == recorded);
}

/// Returns whether `dim` of a `dist.split` divides a loop dim of `size`
/// elements. A loop dim that is whole has no size there.
static bool divides(const dist::DimSharding &dim, int64_t size) {
  if (dim.factors.empty() ||
      (dim.factors.size() == 1 && dim.factors.front().axes.empty()))
    return true;
  int64_t product = 1;
  for (const dist::Factor &factor : dim.factors)
    if (llvm::MulOverflow(product, factor.size, product))
      return false;
  return product == size;
}

std::optional<ShardedOp> pcc::shard::readShardedOp(Operation *op) {
  auto split = op->getAttrOfType<dist::ShardingAttr>(dist::splitName);
  if (!split)
    return std::nullopt;
  auto rule = std::make_shared<RefinedRule>(ruleOf(op));
  std::vector<dist::DimSharding> dims = split.getSharding().dims;
  if (dims.size() != rule->parts.size())
    return std::nullopt;
  // A dim of `dist.split` may be reshaped to several factors: [3|4] means that
  // 12 elements are regarded as 3 blocks of 4. Divide the loop dim of `rule`
  // into the same factors.
  for (auto [id, dim] : llvm::enumerate(dims)) {
    if (!divides(dim, rule->factors[id].size))
      return std::nullopt;
    if (dim.factors.size() > 1)
      rule->refine(id, sizesOf(dim));
  }
  ShardedOp recorded(op, rule);
  for (auto [parts, dim] : llvm::zip_equal(rule->parts, dims))
    for (auto [part, factor] : llvm::zip(parts, dim.factors))
      recorded.axes[part] = factor.axes;
  if (failed(readWindows(recorded)))
    return std::nullopt;
  auto operands = op->getAttrOfType<DenseI64ArrayAttr>(dist::throughName);
  if ((operands ? operands.size() : 0) !=
      static_cast<int64_t>(split.getSharding().partials.size()))
    return std::nullopt;
  for (auto [i, partial] : llvm::enumerate(split.getSharding().partials)) {
    recorded.through.push_back(partial.axis);
    recorded.throughOperand.push_back(operands[i]);
  }
  return recorded;
}

/// Sorts `op.through` (sub-axes along which operands are partial sums) together
/// with `op.throughOperand`, and merges neighboring sub-axes of one mesh axis.
/// Equal splits then store equal attributes.
static void sortThrough(ShardedOp &op) {
  std::vector<std::pair<dist::Partial, int>> entries;
  for (auto [axis, operand] : llvm::zip_equal(op.through, op.throughOperand))
    entries.push_back({{axis, dist::ReductionKind::Sum}, operand});
  llvm::sort(entries);
  op.through.clear();
  op.throughOperand.clear();
  for (const auto &[partial, operand] : entries) {
    if (!op.through.empty() && op.throughOperand.back() == operand &&
        dist::canMerge(op.through.back(), partial.axis)) {
      op.through.back() = dist::merge(op.through.back(), partial.axis);
      continue;
    }
    op.through.push_back(partial.axis);
    op.throughOperand.push_back(operand);
  }
}

void pcc::shard::record(ShardedOp op) {
  assert(op.op && "a function result has no attributes");
  sortThrough(op);
  MLIRContext *context = op.op->getContext();
  for (OpResult result : op.op->getResults())
    dist::setSharding(result, op.resultSharding(result.getResultNumber()));
  op.op->setAttr(dist::splitName, dist::ShardingAttr::get(context, op.split()));
  if (auto accumulate = dyn_cast<graph::AccumulateOp>(op.op))
    accumulate.setSums(dist::holdsAxis(op.through, dist::timeAxis));
  SmallVector<int64_t> windows = windowsOf(op);
  if (!windows.empty())
    op.op->setAttr(dist::windowsName, DenseI64ArrayAttr::get(context, windows));
  if (!op.through.empty())
    op.op->setAttr(dist::throughName,
                   DenseI64ArrayAttr::get(
                       context, SmallVector<int64_t>(op.throughOperand.begin(),
                                                     op.throughOperand.end())));
}
