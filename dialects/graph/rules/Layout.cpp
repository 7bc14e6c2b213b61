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
/// Divides the dims of two shapes into factors (loop indices of an op). The
/// shapes have equal numbers of elements, such as the operand and the result of
/// a reshape. The size of each dim is the product of its factors:
///
///   [6, 4]   {2, 3}, {4}    [6, 4, 5]  {6 Whole}, {4 Whole}, {5}
///   [2, 12]  {2}, {3, 4}    [4, 6, 5]  {4 Whole}, {6 Whole}, {5}
///
/// The dims are compared from front to back. If one size divides the other,
/// both dims get the smaller size as a common factor, and the comparison goes
/// on with the quotient. If neither size divides the other, as for 6 and 4, the
/// dims get separate Whole factors, which ranks must not split.
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

  /// Adds a factor (loop index of the reshape) that is common to the operand
  /// and the result. The factor counts from 0 to `size` - 1. The function adds
  /// the factor to the current dim of the operand (`i`) and to the current dim
  /// of the result (`j`). For example, the reshape of [6, 4] to [24] needs two
  /// calls:
  ///
  ///   share(6)   adds 6 to dim 0 of the operand and to dim 0 of the result
  ///   share(4)   adds 4 to dim 1 of the operand and to dim 0 of the result
  void share(int64_t size) {
    int factor = rule.add(size);
    operand[i].push_back(factor);
    result[j].push_back(factor);
    left /= size;
    right /= size;
  }

  /// Handles dims of a reshape whose sizes do not divide each other, such as 6
  /// and 4 in the reshape of [6, 4, 5] to [4, 6, 5]. These dims cannot have a
  /// common factor (loop index of the reshape). The function therefore gives
  /// each dim its own factor of kind Whole, which ranks must not split. If a
  /// dim of size 6 already has the factor 2, its new factor is 3. The function
  /// continues with the next dims until the new factors of the operand and of
  /// the result have equal products:
  ///
  ///                        new factors
  ///   operand [6, 4, 5]    6 and 4, product 24
  ///   result  [4, 6, 5]    4 and 6, product 24
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

/// Returns the sharding rule of a slice. There are two cases for a sliced dim:
///
///  - The slice is one of several equal blocks, such as x[4:8] of 12 elements.
///    The operand has two factors (loop indices): 3 for the block, and 4 within
///    the block. The result has the factor 4, which ranks can split without
///    communication: each rank has the same part of every block.
///  - The slice is any other range, such as x[3:5]. Each rank receives the
///    operand elements that its shard of the result needs (a windowed read).
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

/// Returns the sharding rule of a concat. There are two cases for its dim:
///
///  - All operands have the same size, such as two operands of 4 elements. The
///    result has two factors (loop indices): 2 for the operand, and 4 within
///    the operand. Ranks can split the factor 4 without communication: each
///    rank has the same part of every operand.
///  - The operands have different sizes. Each rank receives the operand
///    elements that its shard of the result needs (a windowed read).
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

/// Returns the stretches of a padded dim: ranges of result indices for which
/// the operand index changes by a constant step. In the modes reflect and wrap,
/// `low` and `high` must be less than `size`. For `size` 3, `low` 2 and `high`
/// 0, the stretches have these operand indices:
///
///   constant  (-2, -1, 0, 1, 2), where negative indices are padding
///   reflect   (2, 1) and (0, 1, 2)
///   edge      (0), (0) and (0, 1, 2)
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
    // Test whether the padding on each side is at least 0 and less than `size`,
    // the size of the operand's dim. In modes reflect, edge and wrap, ranks can
    // split a padded dim only if this is true, because paddedFrom() supports
    // only these paddings. paddedFrom() describes the padding in mode reflect
    // by one stretch, which is a run of operand indices with a constant step.
    // Examples in mode reflect, with padding in front of a dim of 3 elements:
    //
    //   low   operand indices of the padding   can ranks split the dim?
    //   2     2, 1                             yes: one stretch with step -1
    //   4     0, 1, 2, 1                       no: the indices rise, then fall
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
