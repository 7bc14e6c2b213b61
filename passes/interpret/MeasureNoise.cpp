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

/// Number of executions of the model with random rounding errors.
/// measureNoise() also executes the model once without random errors. For each
/// tensor, it compares each of the ten executions with the execution without
/// random errors, and takes the largest difference. The largest difference
/// shows how much rounding errors can change the tensor.
///
/// In one execution, the random errors may cancel each other by chance. The
/// difference is then too small. It is unlikely that the random errors cancel
/// each other in all ten executions. Example: the random errors cancel each
/// other in one execution with the probability 2/3. They cancel each other in
/// all ten executions with the probability (2/3)^10, which is about 0.02.
static constexpr uint64_t numSamples = 10;

using NamedTensors = llvm::StringMap<TensorPointer>;

std::string interpret::nameInStep(StringRef name, int step, int numSteps) {
  return numSteps == 1 ? name.str()
                       : name.str() + " of step " + std::to_string(step);
}

/// Executes `numSteps` steps of the unpartitioned model `whole` (1 for
/// inference). Each step gets the same `inputs`, and starts with the weights
/// and optimizer states that the previous step has written. Returns tensors by
/// name: the outputs of each step, such as "loss of step 2" (see nameInStep()),
/// and the weights and optimizer states after the last step. `numerics` is f64
/// or the element types of the model. `rounding` adds small random errors to
/// the results of sums, such as matrix products; null adds none.
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
/// element of `b` with the same indices. The function ignores a pair of
/// elements if |x − y| is infinite or NaN. Example: for [1, 5] and [1.5, 7],
/// the differences are 0.5 and 2, and the result is 2.
static double largestDifference(const HostTensor &a, const HostTensor &b) {
  double largest = 0;
  for (auto [x, y] : llvm::zip_equal(a.floats, b.floats))
    if (double difference = std::fabs(x - y); std::isfinite(difference))
      largest = std::max(largest, difference);
  return largest;
}

StatusOr<llvm::StringMap<double>>
interpret::measureNoise(ModuleOp whole, const Inputs &inputs,
                        graph::Numerics numerics, int numSteps) {
  PCC_ASSIGN_OR_RETURN(const NamedTensors expected,
                       runSteps(whole, inputs, numerics, numSteps, nullptr));
  llvm::StringMap<double> noise;
  for (uint64_t seed = 1; seed <= numSamples; ++seed) {
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
