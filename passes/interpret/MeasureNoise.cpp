//===- MeasureNoise.cpp - digits that depend on the order of additions ----===//

#include "passes/interpret/MeasureNoise.h"
#include "dialects/graph/GraphDialect.h"
#include "passes/interpret/compare/Accuracy.h"
#include "passes/interpret/simulate/UnpartitionedRun.h"

using namespace mlir;
using namespace pcc;
using namespace pcc::interpret;

using NamedTensors = llvm::StringMap<TensorPointer>;

std::string interpret::nameInStep(StringRef name, int step, int numSteps) {
  return numSteps == 1 ? name.str()
                       : name.str() + " of step " + std::to_string(step);
}

/// Executes `numSteps` steps of the unpartitioned model `whole`. Returns the
/// outputs of each step, named by nameInStep(), and the parameters after the
/// last step. `rounding` adds random errors to the results of sums; null adds
/// none.
static StatusOr<NamedTensors> runSteps(ModuleOp whole, const Inputs &inputs,
                                       graph::Numerics numerics, int numSteps,
                                       RandomRounding *rounding) {
  auto model = whole.lookupSymbol<func::FuncOp>("main");
  WrittenParameters parameters;
  NamedTensors named;
  for (int step = 1; step <= numSteps; ++step) {
    PCC_ASSIGN_OR_RETURN(
        const std::vector<TensorPointer> outputs,
        runUnpartitioned(whole, inputs, numerics, {}, &parameters, rounding));
    for (auto [i, tensor] : llvm::enumerate(outputs)) {
      auto name = model.getResultAttrOfType<StringAttr>(i, graph::nameName);
      named[nameInStep(name.getValue(), step, numSteps)] = tensor;
    }
  }
  for (const auto &[name, tensor] : parameters)
    named[name] = tensor;
  return named;
}

StatusOr<llvm::StringMap<double>>
interpret::measureNoise(ModuleOp whole, const Inputs &inputs,
                        graph::Numerics numerics, int numSteps,
                        int numSamples) {
  PCC_ASSIGN_OR_RETURN(const NamedTensors expected,
                       runSteps(whole, inputs, numerics, numSteps, nullptr));
  llvm::StringMap<double> noise;
  for (int seed = 1; seed <= numSamples; ++seed) {
    RandomRounding rounding(seed, numerics);
    PCC_ASSIGN_OR_RETURN(
        const NamedTensors sample,
        runSteps(whole, inputs, numerics, numSteps, &rounding));
    for (const auto &entry : sample) {
      const graph::HostTensor &wanted = *expected.find(entry.getKey())->second;
      double &own = noise[entry.getKey()];
      own = std::max(own, lossOfRanks *
                              largestDifference(wanted, *entry.getValue()));
    }
  }
  return noise;
}
