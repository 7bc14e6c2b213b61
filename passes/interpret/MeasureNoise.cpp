//===- MeasureNoise.cpp - digits that depend on the order of additions ----===//

#include "passes/interpret/MeasureNoise.h"
#include "dialects/graph/GraphDialect.h"
#include "passes/interpret/compare/Accuracy.h"
#include "passes/interpret/simulate/UnpartitionedRun.h"

#include <cmath>

using namespace mlir;
using namespace pcc;
using namespace pcc::interpret;
using graph::HostTensor;

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

/// Returns the largest |x − y|, where x is an element of `a`, and y is the
/// element of `b` with the same indices. Returns infinity if one of the two is
/// no finite number and differs from the other: rounding errors alone decide
/// then whether the element overflows. Example: for [1, 5] and [1.5, 7], the
/// differences are 0.5 and 2, and the result is 2.
static double largestDifference(const HostTensor &a, const HostTensor &b) {
  double largest = 0;
  for (auto [x, y] : llvm::zip_equal(a.floats, b.floats)) {
    if (x == y || (std::isnan(x) && std::isnan(y)))
      continue;
    const double difference = std::fabs(x - y);
    largest =
        std::max(largest, std::isfinite(difference) ? difference : HUGE_VAL);
  }
  return largest;
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
      const HostTensor &wanted = *expected.find(entry.getKey())->second;
      double &own = noise[entry.getKey()];
      own = std::max(own, lossOfRanks *
                              largestDifference(wanted, *entry.getValue()));
    }
  }
  return noise;
}
