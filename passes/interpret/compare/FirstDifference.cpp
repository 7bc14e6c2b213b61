//===- FirstDifference.cpp - search for the first difference --------------===//

#include "passes/interpret/compare/FirstDifference.h"
#include "dialects/graph/GraphDialect.h"
#include "passes/interpret/compare/RankValues.h"
#include "passes/interpret/simulate/PipelineRun.h"

using namespace mlir;
using namespace pcc;
using namespace pcc::interpret;

namespace {
/// Finds the first value that the simulated ranks compute differently from the
/// unpartitioned model. Executes step after step with both, until one of them
/// has a wrong value.
class DifferenceSearch {
public:
  DifferenceSearch(ModuleOp whole, ModuleOp parts, const Inputs &inputs,
                   graph::Numerics numerics, int numSamples)
      : parts(parts), inputs(inputs), numerics(numerics),
        expected(whole, inputs, numerics, numSamples), ranks(parts, numerics) {}

  /// Executes the next step, and stores its first wrong value in `first`. A
  /// value with a name goes first. Returns whether to go on with the step after
  /// it: this step is as expected.
  bool runStep() {
    ++numSteps;
    if (expected.runStep().failed())
      return false;
    RankValues all(parts, expected, numerics);
    PipelineListener listener;
    listener.onResult = [&](const StageValue &value) {
      checkNamed(value);
      all.check(value);
    };
    listener.onOutput = [&](StringRef name, const StageValue &value) {
      all.checkOutput(name, value);
    };
    listener.onWrite = [&](StringRef name, const StageValue &value) {
      all.checkWrite(name, value);
    };
    if (ranks.run(inputs, listener).failed())
      return false;
    // A partial sum is compared by its name, too, but only by `all`.
    const std::optional<VerifiedValue> toBlame = all.toBlame();
    if (!first ||
        (toBlame && toBlame->op.empty() && toBlame->name != first->name))
      first = toBlame;
    return !first && !all.isWrong();
  }

  /// First value that differs between the ranks and the unpartitioned model;
  /// empty if none was found.
  std::optional<VerifiedValue> first;

private:
  /// Compares `stageValue`, an op result on all simulated ranks, with the
  /// result of the same name in the unpartitioned model. Stores the first
  /// difference in `first`. Skips tensors that are not shards, such as partial
  /// sums. In the first step, which begins with equal parameters, rounding
  /// errors that the model amplifies count as a difference, too.
  void checkNamed(const StageValue &stageValue) {
    const StringRef name = nameOf(stageValue.value);
    const ExpectedValue *wanted = expected.named(name);
    if (first || !wanted || !isShardOf(stageValue, *wanted->tensor))
      return;
    const Type type = graph::tensorType(stageValue.value).getElementType();
    Comparison comparison(*wanted->tensor, toleranceInside(type, numerics),
                          numSteps == 1 ? 0 : wanted->noise);
    for (const RankShard &shard : stageValue.shards(wanted->tensor->shape))
      comparison.add(*shard.tensor, shard.indices, shard.rank);
    if (!comparison.isEqual())
      first = VerifiedValue{name.str(),
                            graph::nodeName(stageValue.value.getLoc()).str(),
                            comparison};
  }

  /// Returns whether the tensor of each rank in `stageValue` is a shard of
  /// `tensor`. A partial sum, or a tensor with elements of neighbor ranks (halo
  /// exchange), is no shard.
  static bool isShardOf(const StageValue &stageValue,
                        const graph::HostTensor &tensor) {
    dist::Sharding sharding = shardingOf(stageValue.value, tensor.rank());
    return !dist::isPartial(sharding) && !dist::hasView(sharding) &&
           isLocalType(graph::tensorType(stageValue.value), sharding,
                       tensor.shape);
  }

  ModuleOp parts;
  const Inputs &inputs;
  graph::Numerics numerics;
  /// Number of steps that have begun.
  int numSteps = 0;
  ExpectedValues expected;
  PipelineRun ranks;
};
} // namespace

std::optional<VerifiedValue>
interpret::findFirstDifference(ModuleOp whole, ModuleOp parts,
                               const Inputs &inputs, graph::Numerics numerics,
                               int numSteps, int numSamples) {
  DifferenceSearch search(whole, parts, inputs, numerics, numSamples);
  for (int step = 0; step < numSteps && search.runStep();)
    ++step;
  return search.first;
}
