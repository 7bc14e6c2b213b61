//===- FirstDifference.cpp - search for the first difference --------------===//

#include "passes/interpret/compare/FirstDifference.h"
#include "dialects/graph/GraphDialect.h"
#include "passes/interpret/simulate/PipelineRun.h"
#include "passes/interpret/simulate/UnpartitionedRun.h"

using namespace mlir;
using namespace pcc;
using namespace pcc::interpret;

/// Returns the name of `value` in the ONNX model. The result is empty if
/// `value` has no name.
///
/// The compiler has added collectives to the model, such as an all_gather. The
/// result of a collective has no name of its own. For such a result, the
/// function returns the name of the tensor that the collective reads. Example:
/// a matmul computes the tensor "y", and an all_gather collects "y". For the
/// result of the all_gather, the function returns "y".
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

  /// Compares `stageValue`, which is an op result on all simulated ranks, with
  /// the op result of the same name in the unpartitioned model. If an element
  /// differs, stores the comparison in `first`. Does nothing in three cases:
  ///
  ///  - An earlier call has already set `first`.
  ///  - The unpartitioned model has no op result of this name.
  ///  - The tensors of the ranks are not shards whose elements can be compared.
  ///    For example, each rank holds one summand of a sum that an all-reduce
  ///    has yet to compute.
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
  /// `tensor`, the same op result in the unpartitioned model. Returns false in
  /// three cases:
  ///  - Each rank holds only a summand, and a later all-reduce adds the
  ///    summands.
  ///  - The tensor of a rank also has elements of a neighbor, as after a halo
  ///    exchange.
  ///  - The tensor of a rank does not have the shape of a shard.
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
