//===- Windows.cpp - windows of sharding rules (halo exchange) ------------===//

#include "dialects/graph/rules/RuleBuilders.h"

using namespace mlir;
using namespace pcc::graph;

void pcc::graph::addWindow(ShardingRule &rule, ShardingRule::Window window) {
  if (!window.optional)
    for (int factor : rule.results[0][window.dim]) {
      rule.factors[factor].kind = FactorKind::Parallel;
      rule.factors[factor].mustBeContiguous = true;
    }
  rule.windows.push_back(std::move(window));
}

/// Returns whether `index` continues `stretch`, a run of indices with a
/// constant step: 6 continues 3, 4, 5. If `stretch` has only one index, every
/// different `index` continues it. The function then sets the step of
/// `stretch`.
static bool continues(ShardingRule::Window::Stretch &stretch, int64_t index) {
  const int64_t count = stretch.hi - stretch.lo;
  if (count == 1 && index != stretch.source)
    stretch.step = index - stretch.source;
  return index == stretch.source + count * stretch.step;
}

SmallVector<ShardingRule::Window::Stretch, 2>
pcc::graph::constantStretches(GatherOp gather) {
  constexpr size_t most = 64;
  auto constant = gather.getIndices().getDefiningOp<ConstantOp>();
  auto indices = constant ? dyn_cast<DenseIntElementsAttr>(constant.getValue())
                          : DenseIntElementsAttr();
  if (!indices || indices.getType().getRank() != 1)
    return {};
  const int64_t size = tensorType(gather.getData()).getDimSize(gather.getDim());
  SmallVector<ShardingRule::Window::Stretch, 2> stretches;
  for (auto [i, value] : llvm::enumerate(indices.getValues<APInt>())) {
    int64_t index = value.getSExtValue(), at = static_cast<int64_t>(i);
    index += index < 0 ? size : 0;
    if (index < 0 || index >= size)
      return {};
    if (!stretches.empty() && continues(stretches.back(), index))
      ++stretches.back().hi;
    else if (stretches.size() == most)
      return {};
    else
      stretches.push_back({at, at + 1, index});
  }
  return stretches;
}

void pcc::graph::slideWindows(ShardingRule &rule, ArrayRef<int64_t> extents,
                              ArrayRef<int64_t> strides,
                              ArrayRef<int64_t> pads) {
  for (auto [i, extent] : llvm::enumerate(extents)) {
    const int dim = static_cast<int>(i) + 2;
    const ShardingRule::DimFactors &result = rule.results[0][dim];
    if (!result.empty() && !rule.operands[0][dim].empty())
      addWindow(rule,
                {0,
                 dim,
                 {{0, rule.factors[result.front()].size, -pads[i], strides[i]}},
                 extent});
  }
}
