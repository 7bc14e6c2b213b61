//===- VerifyTraining.cpp - check of partitioned training steps -----------===//

#include "passes/interpret/VerifyTraining.h"
#include "dialects/graph/GraphDialect.h"
#include "dialects/graph/StepParts.h"
#include "passes/interpret/simulate/UnpartitionedRun.h"

using namespace mlir;
using namespace pcc;
using namespace pcc::interpret;
using runtime::Status;

bool pcc::interpret::isTraining(ModuleOp module) {
  auto model = module.lookupSymbol<func::FuncOp>("main");
  return model && graph::isTraining(model.front());
}

namespace {
/// Trains both forms of a model in lockstep. The expected values of each step
/// are recorded before the ranks execute the step, so that the listener can
/// compare values as the ranks compute them.
class TrainingComparison {
public:
  TrainingComparison(ModuleOp whole, ModuleOp parts, const Inputs &inputs,
                     Findings &findings)
      : whole(whole), model(whole.lookupSymbol<func::FuncOp>("main")),
        inputs(inputs), findings(findings), ranks(parts, findings.numerics) {}

  /// Executes and compares `numSteps` steps.
  Status run(int numSteps) {
    for (int step = 1; step <= numSteps; ++step)
      PCC_RETURN_IF_ERROR(runStep(step, step == numSteps));
    return Status::success();
  }

private:
  /// Executes one step of both forms. Compares the outputs, and after the last
  /// step the parameters.
  Status runStep(int step, bool isLast) {
    std::string error;
    auto outputs = runUnpartitioned(whole, inputs, findings.numerics, {}, error,
                                    &parameters);
    if (failed(outputs))
      return Status::error(runtime::Defect,
                           "the unpartitioned step cannot be run: " + error);
    expect(step, *outputs, isLast);
    PipelineListener listener;
    listener.onOutput = [this](StringRef name, const StageValue &value) {
      check(outputsOf, name, value);
    };
    listener.onWrite = [&](StringRef name, const StageValue &value) {
      if (isLast)
        check(parametersOf, name, value);
    };
    if (failed(ranks.run(inputs, listener, error)))
      return Status::error(runtime::Defect,
                           "the partitioned step cannot be run: " + error);
    return Status::success();
  }

  /// Records the values that the unpartitioned model computed in one step:
  /// `outputs`, and after the last step the parameters that it wrote.
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

  /// Appends a comparison with `expected` to the findings.
  void add(std::string name, const graph::HostTensor &expected,
           double tolerance) {
    findings.outputs.push_back(
        {std::move(name), "", Comparison(expected, tolerance)});
  }

  /// Compares the shards of all ranks with the comparison that `known` has for
  /// `name`. Values that are not known are not compared.
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
  /// Parameters of the unpartitioned model after the steps before.
  WrittenParameters parameters;
  /// Index in findings.outputs of the comparison of each output of this step,
  /// and of each parameter after the last step, by name.
  llvm::StringMap<size_t> outputsOf, parametersOf;
};
} // namespace

Status pcc::interpret::verifyTraining(ModuleOp whole, ModuleOp parts,
                                      const Inputs &inputs, int numSteps,
                                      Findings &findings) {
  return TrainingComparison(whole, parts, inputs, findings).run(numSteps);
}
