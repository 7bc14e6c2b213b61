//===- VerifyTraining.cpp - check of partitioned training steps -----------===//

#include "passes/interpret/VerifyTraining.h"
#include "dialects/graph/GraphDialect.h"
#include "dialects/graph/StepParts.h"
#include "passes/interpret/MeasureNoise.h"
#include "passes/interpret/simulate/UnpartitionedRun.h"

using namespace mlir;
using namespace pcc;
using namespace pcc::interpret;

bool pcc::interpret::isTraining(ModuleOp module) {
  auto model = module.lookupSymbol<func::FuncOp>("main");
  return model && graph::isTraining(model.front());
}

namespace {
/// Executes each training step with the unpartitioned model, then with the
/// partitioned model on simulated ranks. Compares the outputs of every step,
/// and the parameters after the last step.
class TrainingComparison {
public:
  TrainingComparison(ModuleOp whole, ModuleOp parts, const Inputs &inputs,
                     int numSteps, const llvm::StringMap<double> &noise,
                     Findings &findings)
      : whole(whole), model(whole.lookupSymbol<func::FuncOp>("main")),
        inputs(inputs), numSteps(numSteps), noise(noise), findings(findings),
        ranks(parts, findings.numerics) {}

  /// Executes `numSteps` training steps. In each step, the function executes
  /// the unpartitioned model, and then the partitioned model on simulated
  /// ranks. It compares the outputs of both models in each step, and the
  /// weights and optimizer states of both models after the last step. It stores
  /// the results of the comparisons in `findings.outputs`. The function returns
  /// an error only if a model cannot be executed.
  Status run() {
    for (int step = 1; step <= numSteps; ++step)
      PCC_RETURN_IF_ERROR(runStep(step, step == numSteps));
    return Status::success();
  }

private:
  /// Executes one step of the unpartitioned and the partitioned model. Compares
  /// the outputs and, if `isLast` is true, the parameters that the step writes.
  Status runStep(int step, bool isLast) {
    auto outputs =
        runUnpartitioned(whole, inputs, findings.numerics, {}, &parameters);
    if (!outputs)
      return cannotRun("the unpartitioned step", outputs.status());
    expect(step, *outputs, isLast);
    PipelineListener listener;
    listener.onOutput = [this](StringRef name, const StageValue &value) {
      check(outputsOf, name, value);
    };
    listener.onWrite = [&](StringRef name, const StageValue &value) {
      if (isLast)
        check(parametersOf, name, value);
    };
    if (Status status = ranks.run(inputs, listener); status.failed())
      return cannotRun("the partitioned step", status);
    return Status::success();
  }

  /// Stores the expected tensors of the step number `step` in
  /// `findings.outputs`. Appends one entry for each model output; `outputs`
  /// contains these outputs, computed by the unpartitioned model. If `isLast`
  /// is true, also appends one entry for each parameter that the step writes.
  /// Later, check() compares the partitioned model with these tensors.
  void expect(int step, ArrayRef<TensorPointer> outputs, bool isLast) {
    Operation *terminator = model.front().getTerminator();
    outputsOf.clear();
    for (auto [i, tensor] : llvm::enumerate(outputs)) {
      auto name = model.getResultAttrOfType<StringAttr>(i, graph::nameName);
      outputsOf[name.getValue()] = findings.outputs.size();
      add(nameInStep(name.getValue(), step, numSteps), *tensor,
          toleranceOf(terminator->getOperand(i), findings.numerics));
    }
    if (!isLast)
      return;
    for (auto set : model.getOps<graph::SetParameterOp>()) {
      std::string name = set.getParameter().str();
      parametersOf[name] = findings.outputs.size();
      add(name, *parameters.at(name),
          toleranceOf(set.getValue(), findings.numerics));
    }
  }

  /// Appends an entry with the expected tensor to `findings.outputs`. check()
  /// later accepts relative errors up to `tolerance`. It also accepts absolute
  /// differences up to noise[name], because rounding errors alone can cause
  /// differences of this size.
  void add(std::string name, const graph::HostTensor &expected,
           double tolerance) {
    const double own = noise.lookup(name);
    findings.outputs.push_back(
        {std::move(name), "", Comparison(expected, tolerance, own)});
  }

  /// Compares the shards `value` of the output or parameter `name` with the
  /// expected tensor, entry known[name] of `findings.outputs`. Does nothing if
  /// `known` does not contain `name`.
  void check(const llvm::StringMap<size_t> &known, StringRef name,
             const StageValue &value) {
    auto it = known.find(name);
    if (it == known.end())
      return;
    Comparison &comparison = findings.outputs[it->second].comparison;
    for (const RankShard &shard : value.shards(comparison.whole().shape))
      comparison.add(*shard.tensor, shard.indices, shard.rank);
  }

  ModuleOp whole;
  func::FuncOp model;
  const Inputs &inputs;
  int numSteps;
  const llvm::StringMap<double> &noise;
  Findings &findings;
  PipelineRun ranks;
  /// Parameters of the unpartitioned model after the steps executed so far.
  WrittenParameters parameters;
  /// Two maps from a name in the model, such as "loss", to an index in
  /// `findings.outputs`. `outputsOf` contains the outputs of the current step.
  /// `parametersOf` contains the parameters that the training step changes.
  /// `parametersOf` is empty before the last step, because parameters are
  /// compared only after that step.
  llvm::StringMap<size_t> outputsOf, parametersOf;
};
} // namespace

Status pcc::interpret::verifyTraining(ModuleOp whole, ModuleOp parts,
                                      const Inputs &inputs, int numSteps,
                                      const llvm::StringMap<double> &noise,
                                      Findings &findings) {
  return TrainingComparison(whole, parts, inputs, numSteps, noise, findings)
      .run();
}
