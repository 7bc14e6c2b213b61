//===- FirstDifference.cpp - search for the first difference --------------===//

#include "passes/interpret/compare/FirstDifference.h"
#include "dialects/graph/GraphDialect.h"
#include "passes/interpret/simulate/PipelineRun.h"
#include "passes/interpret/simulate/UnpartitionedRun.h"

using namespace mlir;
using namespace pcc;
using namespace pcc::interpret;

/// Returns the name of `value` in the ONNX model; empty if it has none. The
/// result of a collective has the name of the collective's operand.
static StringRef nameOf(Value value) {
  Operation *op = value.getDefiningOp();
  while (auto collective = dyn_cast_or_null<dist::CollectiveOp>(op))
    op = collective.getInput().getDefiningOp();
  auto name =
      op ? op->getAttrOfType<StringAttr>(graph::nameName) : StringAttr();
  return name ? name.getValue() : StringRef();
}

namespace {
/// Finds the first value that the simulated ranks compute differently from the
/// unpartitioned model. Call keepExpected() once. Then call check() for every
/// value of the partitioned model, in the order of execution.
class DifferenceSearch {
public:
  DifferenceSearch(ModuleOp whole, graph::Numerics numerics)
      : whole(whole), numerics(numerics) {}

  /// Executes the unpartitioned model and keeps all values that have a name.
  Status keepExpected(const Inputs &inputs) {
    auto keep = [this](OpResult result, const RankTensors &tensors) {
      if (StringRef name = nameOf(result); !name.empty())
        expected[name] = tensors.front();
    };
    return runUnpartitioned(whole, inputs, numerics, keep).status();
  }

  /// Compares one value of the simulated ranks with the value of equal name in
  /// the unpartitioned model. Does nothing in three cases:
  ///  - An earlier value differs.
  ///  - The unpartitioned model has no value of this name.
  ///  - The value's tensors are not plain shards; see isShardOf().
  void check(const StageValue &stageValue) {
    auto found = expected.find(nameOf(stageValue.value));
    if (first || found == expected.end() ||
        !isShardOf(stageValue, *found->second))
      return;
    // Allow a larger error than for outputs. An intermediate value may be the
    // difference of two nearly equal values, which has a large relative error.
    Type type = graph::tensorType(stageValue.value).getElementType();
    Comparison comparison(*found->second, 1000 * toleranceOf(type, numerics));
    for (const RankShard &shard : stageValue.shards(found->second->shape))
      comparison.add(*shard.tensor, shard.indices, shard.rank);
    if (!comparison.isEqual())
      first = VerifiedValue{found->first().str(),
                            graph::nodeName(stageValue.value.getLoc()).str(),
                            comparison};
  }

  /// First value that differs between the ranks and the unpartitioned model;
  /// empty if none was found.
  std::optional<VerifiedValue> first;

private:
  /// Returns whether the tensors of `stageValue` on the ranks are plain shards
  /// of `tensor`. Returns false for:
  ///  - partial sums;
  ///  - windowed reads (such as halo exchanges);
  ///  - tensors with another shape than the sharding gives.
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
  /// Values of the unpartitioned model by name.
  llvm::StringMap<TensorPointer> expected;
};
} // namespace

std::optional<VerifiedValue>
interpret::findFirstDifference(ModuleOp whole, ModuleOp parts,
                               const Inputs &inputs, graph::Numerics numerics) {
  DifferenceSearch search(whole, numerics);
  PipelineListener listener;
  listener.onResult = [&](const StageValue &value) { search.check(value); };
  if (search.keepExpected(inputs).failed() ||
      PipelineRun(parts, numerics).run(inputs, listener).failed())
    return {};
  return search.first;
}
