//===- FirstDifference.cpp - search for the first difference --------------===//

#include "passes/interpret/compare/FirstDifference.h"
#include "dialects/graph/GraphDialect.h"
#include "passes/interpret/simulate/PipelineRun.h"
#include "passes/interpret/simulate/UnpartitionedRun.h"

using namespace mlir;
using namespace pcc;
using namespace pcc::interpret;

/// Returns the name of `value` in the ONNX model; empty if there is none. The
/// result of a collective has the name of its operand, because the compiler has
/// added the collective.
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

  /// Executes the unpartitioned model with the inputs `inputs`. Stores each op
  /// result that has a name in the ONNX model in the map `expected`. check()
  /// later compares the op results of the partitioned model with the tensors in
  /// this map. Returns an error if the unpartitioned model cannot be executed.
  Status keepExpected(const Inputs &inputs) {
    auto keep = [this](OpResult result, const RankTensors &tensors) {
      if (StringRef name = nameOf(result); !name.empty())
        expected[name] = tensors.front();
    };
    return runUnpartitioned(whole, inputs, numerics, keep).status();
  }

  /// Compares `stageValue`, an op result on all simulated ranks, with the
  /// result of the same name in the unpartitioned model. Stores the first
  /// difference in `first`. Skips tensors that are not shards, such as partial
  /// sums.
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
  /// Returns whether the tensor of each rank in `stageValue` is a shard of
  /// `tensor`. A partial sum, or a tensor with elements of neighbor ranks (halo
  /// exchange), is no shard.
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
  /// Map from names to op results of the unpartitioned model. A key is the name
  /// of an op result in the ONNX model. The value is the tensor that the op has
  /// computed. The map does not contain op results without a name.
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
