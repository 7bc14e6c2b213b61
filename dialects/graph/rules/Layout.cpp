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
/// Divides the dims of two shapes with equal numbers of elements into common
/// factors (loop indices that can be split), from left to right:
///
///   [6, 4] and [2, 12]:  factors 2 | 3 | 4, so {2,3},{4} and {2},{3,4}
///
/// Each step compares the parts of the current two dims that have no factor
/// yet: 6 and 2, then 3 and 12, then 4 and 4. If the smaller part divides the
/// larger one, it becomes a common factor. Otherwise, the dims get separate
/// Whole factors (not to be split), until the dims processed so far have equal
/// numbers of elements in both shapes:
///
///   [6, 4, 5] and [4, 6, 5]:  Whole 6, 4 and Whole 4, 6; common factor 5
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
  /// Advances `dim` to the first dim of `shape` of which a part has no factor
  /// yet. Sets `rest` to the size of that part: 3 for a dim of size 6 that has
  /// the factor 2. Returns false if there is no such dim.
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

  /// Adds one factor of `size` to the current dim of each shape.
  void share(int64_t size) {
    int factor = rule.add(size);
    operand[i].push_back(factor);
    result[j].push_back(factor);
    left /= size;
    right /= size;
  }

  /// Adds separate Whole factors (not to be split) to consecutive dims of both
  /// shapes. Stops when the dims processed so far have equal numbers of
  /// elements in both shapes: before the 5 of [6, 4, 5] and [4, 6, 5].
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

/// Makes each dim that is not sliced a Parallel factor (split without
/// communication). A sliced dim is read through a window: each rank receives
/// the elements that its shard of the result needs.
///
/// The slice may be one of several equal blocks of the dim, such as q in a
/// fused [q k v]. Ranks can then also split every block without a window:
///
///   slice [4:8] of [12]:  factors {3, 4} of the operand, {4} of the result
///
/// The number of blocks (3) is Whole (not to be split), and the size of a block
/// (4) is Parallel.
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

/// Makes all dims except the concatenated one Parallel factors (split without
/// communication). The concatenated dim depends on the sizes of the operands:
/// - If the sizes are equal, each operand is a block of the result. The size of
///   a block is a Parallel factor, and the number of blocks is Whole (not to be
///   split). Two operands [4] have the factors {4}, and the result has {2, 4}.
/// - Otherwise, the operands are read through windows: each rank receives the
///   elements that its shard of the result needs.
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

/// Returns the sharding rule of an op that changes some dims of its operand. If
/// `untouched` is true for a dim, operand and result share one Parallel factor
/// (split without communication) for that dim. Otherwise the dim has one Whole
/// factor (not to be split) in the operand and a separate one in the result.
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

/// Returns the stretches of a padded dim: ranges of padded indices that read
/// the operand at a constant step. `size` is the size of the dim before
/// padding, and `low` and `high` are the padding on each side.
///   reflect, size 3, low 2, high 0:  read 2, 1 | 0, 1, 2
///   constant, same sizes:            read -2, -1, 0, 1, 2
/// An index outside the operand, such as -2, stands for the constant.
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
    // In the modes that copy elements (reflect, edge, wrap), paddedFrom()
    // requires a padding of 0 to `size` - 1 elements on each side.
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
/// are rotated together. All other dims are Parallel factors (split without
/// communication).
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
