//===- RandomRounding.h - Monte Carlo arithmetic for one rank -------------===//

#ifndef PCC_PASSES_INTERPRET_SIMULATE_RANDOMROUNDING_H
#define PCC_PASSES_INTERPRET_SIMULATE_RANDOMROUNDING_H

#include "dialects/graph/reference/Evaluator.h"

#include <random>

namespace pcc::interpret {

/// Returns the largest relative error of a rounding to `type`; 0 if `type` is
/// no float.
double roundingOf(mlir::Type type);

/// Adds a random rounding error to every sum of a model, so that several
/// executions show how many digits of a result depend on the order of additions
/// (Monte Carlo arithmetic, Parker 1997).
class RandomRounding {
public:
  /// Equal seeds give equal errors.
  RandomRounding(uint64_t seed, graph::Numerics numerics)
      : numerics(numerics), random(seed) {}

  /// Multiplies each element of `result`, a result of `op`, by 1 + e or 1 − e.
  /// Here e is the rounding error of f64 or, with Numerics::Model, of the
  /// element type. Does nothing if `op` does not add elements.
  void apply(mlir::Operation *op, mlir::Type type, graph::HostTensor &result);

private:
  graph::Numerics numerics;
  std::mt19937_64 random;
};

} // namespace pcc::interpret

#endif // PCC_PASSES_INTERPRET_SIMULATE_RANDOMROUNDING_H
