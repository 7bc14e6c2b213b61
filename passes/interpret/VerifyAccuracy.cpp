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
/// = [1, 3], the result is 1/4.
static double errorOf(const HostTensor &expected, const HostTensor &got) {
  Comparison comparison(expected, HUGE_VAL);
  comparison.add(got, allIndices(got.shape), /*rank=*/0);
  return comparison.maxError();
}

namespace {
/// Measures the accuracy of a partitioned model. Executes each step three
/// times. A step is one training step or one inference. The executions are:
///
///  1. the unpartitioned model on one rank in f64
///  2. the unpartitioned model on one rank, with each op result rounded to its
///     element type in the model, such as bf16
///  3. the partitioned model on the simulated ranks, with each op result
///     rounded to its element type in the model
///
/// Execution 1 gives the expected tensors. The class computes the errors of the
/// executions 2 and 3, which are the differences from execution 1. The error of
/// execution 3 must not be much larger than the error of execution 2. The
/// function accuracyOf() returns the largest allowed error.
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

  /// Appends an entry for one output or parameter to the list `values`. Later,
  /// check() compares the partitioned model with this entry. The function does
  /// nothing if the output or parameter has no float elements.
  ///
  ///  - `key` is the name of the output or parameter in the model, such as
  ///    "loss".
  ///  - `known` is a map from names to indices in `values`. The function stores
  ///    the index of the new entry in known[key]. With this index, check()
  ///    finds the entry.
  ///  - `name` is the name that messages to the user contain. In training, the
  ///    name of an output contains the step, such as "loss of step 2". For a
  ///    parameter, `name` is equal to `key`.
  ///  - `value` is the output or parameter in the IR of the unpartitioned
  ///    model. accuracyOf() computes the largest allowed error from `value`.
  ///  - `wanted` is the tensor that the unpartitioned model computes in f64.
  ///    This tensor is the expected tensor.
  ///  - `given` is the tensor that the unpartitioned model computes if each op
  ///    result is rounded to its element type, such as bf16. The entry contains
  ///    the largest relative difference between `given` and `wanted`.
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
  /// Two maps from names to indices in the list `values`. An entry of `values`
  /// contains the expected tensor of one output or parameter. Only outputs and
  /// parameters with float elements have an entry.
  ///
  ///  - `outputsOf`: a key is the name of an output of the model. The value is
  ///    the index of the entry for this output in the current step.
  ///  - `parametersOf`: a key is the name of a parameter that the training step
  ///    changes. The value is the index of the entry for this parameter.
  ///    Parameters are compared only after the last step. The map is therefore
  ///    empty before the last step.
  ///
  /// Example: the model has the output "loss" and the parameter "w", and
  /// executes two training steps. In step 1, `outputsOf` is {"loss": 0}, and
  /// `parametersOf` is empty. In step 2, `outputsOf` is {"loss": 1}, and
  /// `parametersOf` is {"w": 2}.
  llvm::StringMap<size_t> outputsOf, parametersOf;
};
} // namespace

StatusOr<std::vector<AccurateValue>>
pcc::interpret::verifyAccuracy(ModuleOp whole, ModuleOp parts,
                               const Inputs &inputs, int numSteps,
                               const llvm::StringMap<double> &noise) {
  return AccuracyComparison(whole, parts, inputs, numSteps, noise).run();
}
