//===- FirstDifference.cpp - where the ranks leave the model --------------===//

#include "passes/interpret/compare/FirstDifference.h"
#include "passes/interpret/simulate/PipelineRun.h"
#include "passes/interpret/simulate/UnpartitionedRun.h"

using namespace mlir;
using namespace pcc;
using namespace pcc::interpret;

/// The name that a value has in the ONNX model, or had before it was made whole
/// of partial sums.
static StringRef nameOf(Value value) {
  Operation *op = value.getDefiningOp();
  while (auto collective = dyn_cast_or_null<dist::CollectiveOp>(op))
    op = collective.getInput().getDefiningOp();
  auto name = op ? op->getAttrOfType<StringAttr>("graph.name") : StringAttr();
  return name ? name.getValue() : StringRef();
}

namespace {
class DifferenceSearch {
public:
  DifferenceSearch(ModuleOp whole, graph::Numerics numerics)
      : whole(whole), numerics(numerics) {}

  LogicalResult keepExpected(const Inputs &inputs, std::string &error) {
    auto keep = [this](OpResult result, const RankTensors &tensors) {
      if (StringRef name = nameOf(result); !name.empty())
        expected[name] = tensors.front();
    };
    return LogicalResult(
        runUnpartitioned(whole, inputs, numerics, keep, error));
  }

  void check(const StageValue &stageValue) {
    auto found = expected.find(nameOf(stageValue.value));
    if (first || found == expected.end() ||
        !isShardOf(stageValue, *found->second))
      return;
    // Where values cancel, inner ones are further apart than outputs.
    Type type = graph::tensorType(stageValue.value).getElementType();
    Comparison comparison(*found->second, 1000 * toleranceOf(type, numerics));
    for (const RankShard &shard : stageValue.shards(found->second->shape))
      comparison.add(*shard.tensor, shard.indices, shard.rank);
    if (!comparison.isEqual())
      first = VerifiedValue{found->first().str(),
                            graph::nodeName(stageValue.value.getLoc()).str(),
                            comparison};
  }

  std::optional<VerifiedValue> first;

private:
  /// No partial sum, and of the shape that shards of `tensor` have.
  static bool isShardOf(const StageValue &stageValue,
                        const graph::HostTensor &tensor) {
    dist::Sharding sharding = shardingOf(stageValue.value, tensor.rank());
    auto type = graph::tensorType(stageValue.value);
    auto global = RankedTensorType::get(tensor.shape, type.getElementType());
    return !dist::isPartial(sharding) && !dist::hasView(sharding) &&
           static_cast<int64_t>(sharding.rank()) == tensor.rank() &&
           dist::localType(global, sharding) == type;
  }

  ModuleOp whole;
  graph::Numerics numerics;
  llvm::StringMap<TensorPointer> expected;
};
} // namespace

std::optional<VerifiedValue>
interpret::findFirstDifference(ModuleOp whole, ModuleOp parts,
                               const Inputs &inputs, graph::Numerics numerics) {
  DifferenceSearch search(whole, numerics);
  std::string error;
  PipelineListener listener;
  listener.onResult = [&](const StageValue &value) { search.check(value); };
  if (failed(search.keepExpected(inputs, error)) ||
      failed(PipelineRun(parts, numerics).run(inputs, listener, error)))
    return {};
  return search.first;
}
