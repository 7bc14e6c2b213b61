//===- VerifyAccuracy.cpp - check of ranks in the model's own types -------===//

#include "passes/interpret/VerifyAccuracy.h"
#include "passes/interpret/MeasureNoise.h"
#include "passes/interpret/simulate/PipelineRun.h"
#include "passes/interpret/simulate/UnpartitionedRun.h"

#include <cmath>

using namespace mlir;
using namespace pcc;
using namespace pcc::interpret;
using graph::HostTensor;
using graph::Numerics;

/// Returns the largest relative error of an element of `got`. `got` and
/// `expected` are whole tensors of the same shape. The relative error of an
/// element is its difference from the element of `expected`, divided by the
/// largest magnitude in `expected`. Example: for `expected` = [1, 4] and `got`
/// = [1, 3], the result is 1/4. An element that overflows in `got` alone does
/// not count.
static double errorOf(const HostTensor &expected, const HostTensor &got) {
  Comparison comparison(expected, HUGE_VAL);
  comparison.leaveOutOverflows(got);
  comparison.add(got, allIndices(got.shape), /*rank=*/0);
  return comparison.maxError();
}

namespace {
/// Measures the accuracy of a partitioned model. Executes each step three
/// times: the unpartitioned model in f64, then both models with each op result
/// rounded to its element type, such as bf16. accuracyOf() computes the largest
/// error that the partitioned model may have, from the error of the
/// unpartitioned model with rounded op results.
class AccuracyComparison {
public:
  AccuracyComparison(ModuleOp whole, ModuleOp parts, const Inputs &inputs,
                     int numSteps, const llvm::StringMap<double> &noise)
      : whole(whole), model(whole.lookupSymbol<func::FuncOp>("main")),
        inputs(inputs), numSteps(numSteps), noise(noise),
        ranks(parts, Numerics::Model) {}

  StatusOr<std::vector<AccurateValue>> run() {
    for (int step = 1; step <= numSteps; ++step)
      PCC_RETURN_IF_ERROR(runStep(step));
    return std::move(values);
  }

private:
  Status runStep(int step) {
    PCC_ASSIGN_OR_RETURN(
        const std::vector<TensorPointer> wanted,
        runUnpartitioned(whole, inputs, Numerics::Exact, {}, &exact));
    PCC_ASSIGN_OR_RETURN(
        const std::vector<TensorPointer> given,
        runUnpartitioned(whole, inputs, Numerics::Model, {}, &rounded));
    expect(wanted, given, step);
    if (step == numSteps)
      expectParameters();
    PipelineListener listener;
    listener.onOutput = [&](StringRef name, const StageValue &value) {
      check(outputsOf, name, value);
    };
    listener.onWrite = [&](StringRef name, const StageValue &value) {
      check(parametersOf, name, value);
    };
    return ranks.run(inputs, listener);
  }

  void expect(ArrayRef<TensorPointer> wanted, ArrayRef<TensorPointer> given,
              int step) {
    outputsOf.clear();
    Operation *terminator = model.front().getTerminator();
    for (auto [i, value] : llvm::enumerate(terminator->getOperands())) {
      auto name = model.getResultAttrOfType<StringAttr>(i, graph::nameName);
      add(outputsOf, name.getValue(),
          nameInStep(name.getValue(), step, numSteps), value, *wanted[i],
          *given[i]);
    }
  }

  void expectParameters() {
    for (auto set : model.getOps<graph::SetParameterOp>()) {
      std::string name = set.getParameter().str();
      add(parametersOf, name, name, set.getValue(), *exact.at(name),
          *rounded.at(name));
    }
  }

  /// Appends an entry for the output or parameter `value` to `values`, and its
  /// index to `known` under `key`. Does nothing if the elements are no floats.
  /// `wanted` is the tensor in f64. `given` is the tensor of the unpartitioned
  /// model with rounded op results. `name` is for messages.
  void add(llvm::StringMap<size_t> &known, StringRef key, std::string name,
           Value value, const HostTensor &wanted, const HostTensor &given) {
    if (!isa<FloatType>(graph::tensorType(value).getElementType()))
      return;
    known[key] = values.size();
    const double own = noise.lookup(name);
    const double error = std::isinf(own) ? own : errorOf(wanted, given);
    Comparison comparison(wanted, accuracyOf(value, error), own);
    comparison.leaveOutOverflows(given);
    values.push_back({{std::move(name), graph::nodeName(value.getLoc()).str(),
                       std::move(comparison)},
                      error});
  }

  void check(const llvm::StringMap<size_t> &known, StringRef name,
             const StageValue &value) {
    auto it = known.find(name);
    if (it == known.end())
      return;
    Comparison &comparison = values[it->second].ranks.comparison;
    for (const RankShard &shard : value.shards(comparison.whole().shape))
      comparison.add(*shard.tensor, shard.indices, shard.rank);
  }

  ModuleOp whole;
  func::FuncOp model;
  const Inputs &inputs;
  int numSteps;
  const llvm::StringMap<double> &noise;
  PipelineRun ranks;
  std::vector<AccurateValue> values;
  /// Parameters that the unpartitioned model has written in the steps so far:
  /// in the run in f64 (`exact`), and in the run that rounds each op result to
  /// its element type (`rounded`).
  WrittenParameters exact, rounded;
  /// Two maps from a name in the model, such as "loss", to an index in
  /// `values`. `outputsOf` contains the outputs of the current step.
  /// `parametersOf` contains the parameters that the training step changes.
  /// `parametersOf` is empty before the last step, because parameters are
  /// compared only after that step. Only tensors with float elements have an
  /// entry.
  llvm::StringMap<size_t> outputsOf, parametersOf;
};
} // namespace

StatusOr<std::vector<AccurateValue>>
pcc::interpret::verifyAccuracy(ModuleOp whole, ModuleOp parts,
                               const Inputs &inputs, int numSteps,
                               const llvm::StringMap<double> &noise) {
  return AccuracyComparison(whole, parts, inputs, numSteps, noise).run();
}
