//===- VerifyTraining.cpp - check of partitioned training steps -----------===//

#include "passes/interpret/VerifyTraining.h"
#include "dialects/graph/GraphDialect.h"
#include "dialects/graph/StepParts.h"
#include "passes/interpret/simulate/UnpartitionedRun.h"

using namespace mlir;
using namespace pcc;
using namespace pcc::interpret;

bool pcc::interpret::isTraining(ModuleOp module) {
  auto model = module.lookupSymbol<func::FuncOp>("main");
  return model && graph::isTraining(model.front());
}

namespace {
/// Executes training steps of the unpartitioned and the partitioned model
/// alternately. The expected values of a step are known before the simulated
/// ranks execute it, so that values are compared as soon as the ranks compute
/// them.
class TrainingComparison {
public:
  TrainingComparison(ModuleOp whole, ModuleOp parts, const Inputs &inputs,
                     Findings &findings)
      : whole(whole), model(whole.lookupSymbol<func::FuncOp>("main")),
        inputs(inputs), findings(findings), ranks(parts, findings.numerics) {}

  /// Executes `numSteps` steps of the unpartitioned and the partitioned model
  /// and compares their values.
  Status run(int numSteps) {
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

  /// Records the values that the unpartitioned model computed in a step as the
  /// expected ones: `outputs` and, if `isLast`, the parameters that it wrote.
  void expect(int step, ArrayRef<TensorPointer> outputs, bool isLast) {
    Operation *terminator = model.front().getTerminator();
    outputsOf.clear();
    for (auto [i, tensor] : llvm::enumerate(outputs)) {
      auto name = model.getResultAttrOfType<StringAttr>(i, graph::nameName);
      outputsOf[name.getValue()] = findings.outputs.size();
      add(name.str() + " of step " + std::to_string(step), *tensor,
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

  /// Appends a comparison with the expected tensor `expected` to the findings.
  void add(std::string name, const graph::HostTensor &expected,
           double tolerance) {
    findings.outputs.push_back(
        {std::move(name), "", Comparison(expected, tolerance)});
  }

  /// Compares the shards of `value` on all ranks with the expected value called
  /// `name`. `known` (outputsOf or parametersOf) has the index of the
  /// comparison. Does nothing if `known` does not contain `name`.
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
  Findings &findings;
  PipelineRun ranks;
  /// Parameters of the unpartitioned model after the steps executed so far.
  WrittenParameters parameters;
  /// Index of each comparison in findings.outputs, by name. `outputsOf` has the
  /// outputs of this step. `parametersOf` has the parameters after the last
  /// step.
  llvm::StringMap<size_t> outputsOf, parametersOf;
};
} // namespace

Status pcc::interpret::verifyTraining(ModuleOp whole, ModuleOp parts,
                                      const Inputs &inputs, int numSteps,
                                      Findings &findings) {
  return TrainingComparison(whole, parts, inputs, findings).run(numSteps);
}
