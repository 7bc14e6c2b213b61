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

/// Returns the largest error of `got` against `expected`, both whole tensors.
static double errorOf(const HostTensor &expected, const HostTensor &got) {
  Comparison comparison(expected, HUGE_VAL);
  comparison.add(got, allIndices(got.shape), /*rank=*/0);
  return comparison.maxError();
}

namespace {
/// Measures how exact a partitioned model is. Executes each training or
/// inference step three times:
///  - on one rank in f64, as the reference;
///  - on one rank in the model's own types, such as bf16;
///  - on the simulated ranks in the model's own types.
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

  /// Appends an entry for the output or parameter `name` to `values`. Stores
  /// the index of this entry in known[key]. Later, check() finds the entry by
  /// `key`. Does nothing if the elements are not floats.
  ///
  /// `value` is the output or parameter in the IR. `wanted` is its tensor,
  /// computed in f64. `given` is its tensor, computed by the unpartitioned
  /// model with results rounded to the element types of the model.
  void add(llvm::StringMap<size_t> &known, StringRef key, std::string name,
           Value value, const HostTensor &wanted, const HostTensor &given) {
    if (!isa<FloatType>(graph::tensorType(value).getElementType()))
      return;
    known[key] = values.size();
    const double error = errorOf(wanted, given);
    Comparison comparison(wanted, accuracyOf(value, error), noise.lookup(name));
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
  /// in f64 (`exact`), and in the model's own types (`rounded`).
  WrittenParameters exact, rounded;
  /// Maps from a name to the index of an entry of `values`. The keys of
  /// `outputsOf` are the names of the model's outputs. Their entries belong to
  /// the current step. The keys of `parametersOf` are the names of the
  /// parameters. `parametersOf` is empty before the last step, because
  /// parameters are compared only after that step.
  llvm::StringMap<size_t> outputsOf, parametersOf;
};
} // namespace

StatusOr<std::vector<AccurateValue>>
pcc::interpret::verifyAccuracy(ModuleOp whole, ModuleOp parts,
                               const Inputs &inputs, int numSteps,
                               const llvm::StringMap<double> &noise) {
  return AccuracyComparison(whole, parts, inputs, numSteps, noise).run();
}
