//===- Layout.cpp - sharding rules of layout ops --------------------------===//

#include "dialects/graph/rules/RuleBuilders.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include <numeric>

using namespace mlir;
using namespace pcc::graph;

using Dims = ShardingRule::DimFactors;
using Tensor = ShardingRule::TensorFactors;

ShardingRule TransposeOp::getShardingRule() {
  ShardingRule rule;
  rule.operands.push_back(addDims(rule, tensorType(getInput()).getShape()));
  rule.results.push_back(applyPermutation(rule.operands[0], getPerm()));
  rule.partialThrough = {0};
  return rule;
}

namespace {
/// Divides two shapes of equal element counts into factors (loop indices) for a
/// reshape. [6, 4] and [2, 12] become {2, 3}, {4} and {2}, {3, 4}. If neither
/// of two sizes divides the other, as 6 and 4 in [6, 4, 5] and [4, 6, 5], the
/// dims get separate Whole factors (not to be split).
class FactorWalk {
public:
  FactorWalk(ShardingRule &rule, ArrayRef<int64_t> from, ArrayRef<int64_t> to)
      : rule(rule), from(from), to(to) {
    operand.resize(from.size());
    result.resize(to.size());
  }

  void run() {
    while (next(from, i, left) && next(to, j, right)) {
      if (left == 1 || right == 1 ||
          std::gcd(left, right) != std::min(left, right))
        diverge();
      else
        share(std::min(left, right));
    }
  }

  Tensor operand, result;

private:
  /// Advances `dim` to the first dim of `shape` that still needs a factor.
  /// `rest` is the part of its size that has no factor yet. For example, if a
  /// dim of size 6 already has the factor 2, `rest` is 3. Returns false if all
  /// dims have their factors.
  static bool next(ArrayRef<int64_t> shape, size_t &dim, int64_t &rest) {
    while (rest == 0 || (rest == 1 && dim < shape.size())) {
      if (rest == 1)
        ++dim;
      if (dim == shape.size())
        return false;
      rest = shape[dim] == 1 ? 1 : shape[dim];
    }
    return dim < shape.size();
  }

  /// Adds a factor (loop index) of size `size` to the current dim of the
  /// operand and to the current dim of the result.
  void share(int64_t size) {
    int factor = rule.add(size);
    operand[i].push_back(factor);
    result[j].push_back(factor);
    left /= size;
    right /= size;
  }

  /// Handles sizes that do not divide each other, such as [6, 4] and [4, 6].
  /// Each dim gets its own Whole factor (not to be split), until the products
  /// of the new factors of operand and result are equal.
  void diverge() {
    int64_t leftVolume = left, rightVolume = right;
    operand[i].push_back(rule.add(left, FactorKind::Whole));
    result[j].push_back(rule.add(right, FactorKind::Whole));
    while (leftVolume != rightVolume) {
      bool advanceLeft = leftVolume < rightVolume;
      int64_t size = advanceLeft ? from[++i] : to[++j];
      (advanceLeft ? leftVolume : rightVolume) *= size;
      if (size > 1)
        (advanceLeft ? operand[i] : result[j])
            .push_back(rule.add(size, FactorKind::Whole));
    }
    left = right = 1;
  }

  ShardingRule &rule;
  ArrayRef<int64_t> from, to;
  size_t i = 0, j = 0;
  int64_t left = 0, right = 0;
};
} // namespace

ShardingRule ReshapeOp::getShardingRule() {
  auto from = tensorType(getInput()).getShape(),
       to = tensorType(getResult()).getShape();
  if (tensorType(getInput()).getNumElements() == 0)
    return wholeRule(*this);
  ShardingRule rule;
  FactorWalk walk(rule, from, to);
  walk.run();
  rule.operands.push_back(walk.operand);
  rule.results.push_back(walk.result);
  rule.partialThrough = {0};
  return rule;
}

ShardingRule BroadcastOp::getShardingRule() {
  ShardingRule rule = broadcastRule(*this);
  rule.partialThrough = {0};
  return rule;
}

/// Returns the sharding rule of a slice. If the slice is one of several equal
/// blocks, such as x[4:8] of 12 elements, ranks can split every block without
/// communication. For any other slice, each rank receives the operand elements
/// that its shard of the result needs (a windowed read).
ShardingRule SliceOp::getShardingRule() {
  ShardingRule rule;
  auto input = tensorType(getInput()).getShape();
  Tensor &operand = rule.operands.emplace_back(input.size());
  Tensor &result = rule.results.emplace_back(input.size());
  for (auto [i, size] : llvm::enumerate(input)) {
    int64_t start = getStarts()[i], count = getSizes()[i], step = getSteps()[i];
    bool blocks =
        step == 1 && count > 0 && size % count == 0 && start % count == 0;
    if (blocks && count != size)
      operand[i].push_back(rule.add(size / count, FactorKind::Whole));
    if (!blocks && size > 1)
      operand[i].push_back(rule.add(size, FactorKind::Whole));
    if (count > 1)
      result[i].push_back(rule.add(count));
    if (blocks)
      llvm::append_range(operand[i], result[i]);
    if (count > 0 && (count != size || step != 1))
      addWindow(rule, {0,
                       static_cast<int>(i),
                       {{0, count, start, step}},
                       /*extent=*/0,
                       /*narrows=*/count < size,
                       /*optional=*/blocks});
  }
  rule.partialThrough = {0};
  return rule;
}

/// Returns the sharding rule of a concat. If all operands have equal sizes,
/// ranks can split each operand along the dim without communication. Otherwise,
/// each rank receives the operand elements that its shard of the result needs
/// (a windowed read).
ShardingRule ConcatOp::getShardingRule() {
  ShardingRule rule;
  size_t dim = getDim();
  Tensor result = addDims(rule, tensorType(getResult()).getShape());
  int64_t part = tensorType(getInputs().front()).getDimSize(dim);
  bool equal = llvm::all_of(getInputs(), [&](Value input) {
    return tensorType(input).getDimSize(dim) == part;
  });
  Dims block = equal && part > 1 ? Dims{rule.add(part)} : Dims{};
  if (equal && getInputs().size() > 1) {
    result[dim] = {rule.add(getInputs().size(), FactorKind::Whole)};
    llvm::append_range(result[dim], block);
  }
  rule.results.push_back(result);
  int64_t start = 0;
  for (auto [i, input] : llvm::enumerate(getInputs())) {
    Tensor operand = result;
    int64_t size = tensorType(input).getDimSize(dim);
    operand[dim] = equal      ? block
                   : size > 1 ? Dims{rule.add(size, FactorKind::Whole)}
                              : Dims{};
    rule.operands.push_back(operand);
    rule.partialThrough.push_back(i);
    if (!equal && size > 0 && !result[dim].empty())
      addWindow(rule, {static_cast<int>(i),
                       static_cast<int>(dim),
                       {{start, start + size, 0, 1}}});
    start += size;
  }
  rule.partialTogether = true;
  return rule;
}

/// Returns the sharding rule of an op that changes some dims of its operand.
/// Dims for which `untouched` is true are Parallel factors (split without
/// communication). All other dims are Whole factors (not to be split).
static ShardingRule untouchedRule(Operation *op,
                                  llvm::function_ref<bool(size_t)> untouched) {
  ShardingRule rule;
  auto input = tensorType(op->getOperand(0)).getShape();
  auto output = tensorType(op->getResult(0)).getShape();
  Tensor operand(input.size()), result(input.size());
  for (size_t i = 0; i < input.size(); ++i) {
    bool through = untouched(i);
    if (input[i] > 1)
      operand[i].push_back(rule.add(input[i], through ? FactorKind::Parallel
                                                      : FactorKind::Whole));
    if (through)
      result[i] = operand[i];
    else if (output[i] > 1)
      result[i].push_back(rule.add(output[i], FactorKind::Whole));
  }
  rule.operands.push_back(operand);
  rule.results.push_back(result);
  return rule;
}

/// Returns the stretches of a padded dim: ranges of result indices with a
/// constant step between the operand indices. In the modes reflect and wrap,
/// `low` and `high` must be less than `size`.
static SmallVector<ShardingRule::Window::Stretch, 2>
paddedFrom(PadMode mode, int64_t size, int64_t low, int64_t high) {
  int64_t end = low + size, all = end + high;
  if (mode == PadMode::Constant)
    return {{0, all, -low, 1}};
  SmallVector<ShardingRule::Window::Stretch, 2> stretches;
  if (mode == PadMode::Edge)
    for (int64_t i = 0; i < low; ++i)
      stretches.push_back({i, i + 1, 0, 1});
  else if (low > 0)
    stretches.push_back(
        mode == PadMode::Reflect
            ? ShardingRule::Window::Stretch{0, low, low, -1}
            : ShardingRule::Window::Stretch{0, low, size - low, 1});
  stretches.push_back({low, end, 0, 1});
  if (mode == PadMode::Edge)
    for (int64_t i = end; i < all; ++i)
      stretches.push_back({i, i + 1, size - 1, 1});
  else if (high > 0)
    stretches.push_back(
        mode == PadMode::Reflect
            ? ShardingRule::Window::Stretch{end, all, size - 2, -1}
            : ShardingRule::Window::Stretch{end, all, 0, 1});
  return stretches;
}

ShardingRule PadOp::getShardingRule() {
  ShardingRule rule = untouchedRule(
      *this, [&](size_t i) { return getLow()[i] == 0 && getHigh()[i] == 0; });
  auto shape = tensorType(getInput()).getShape();
  for (auto [i, size] : llvm::enumerate(shape)) {
    int64_t low = getLow()[i], high = getHigh()[i];
    // In the modes reflect, edge and wrap, paddedFrom() supports only a padding
    // from 0 to `size` - 1 on each side.
    bool once = low >= 0 && high >= 0 && low < size && high < size;
    if ((low != 0 || high != 0) && !rule.results[0][i].empty() && size > 0 &&
        (getMode() == PadMode::Constant || once))
      addWindow(rule, {0, static_cast<int>(i),
                       paddedFrom(getMode(), size, low, high)});
  }
  if (getValue())
    rule.operands.emplace_back();
  if (!getValue() || isZeros(getValue()))
    rule.partialThrough = {0};
  return rule;
}

/// Makes the last dim Whole (not to be split), because pairs of its elements
/// are rotated. All other dims are Parallel (split without communication).
ShardingRule RotaryOp::getShardingRule() {
  ShardingRule rule = broadcastRule(*this);
  for (int factor : rule.results[0].back())
    rule.factors[factor].kind = FactorKind::Whole;
  rule.partialThrough = {0};
  return rule;
}

ShardingRule ResizeOp::getShardingRule() {
  auto input = tensorType(getInput()).getShape();
  auto output = tensorType(getResult()).getShape();
  return untouchedRule(*this, [&](size_t i) {
    return input[i] == output[i] && getScales()[i] == 1.0;
  });
}
