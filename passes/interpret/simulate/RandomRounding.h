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
  /// Creates an object that adds random errors to results. `seed` is the start
  /// value of the random number generator. Two objects with equal seeds give
  /// equal errors, if both process the same results in the same order.
  /// `numerics` is the precision to which the simulation rounds results: f64 or
  /// the element types of the model. The errors are as large as one rounding
  /// error of this precision.
  RandomRounding(uint64_t seed, graph::Numerics numerics)
      : numerics(numerics), random(seed) {}

  /// Multiplies each element of the tensor `result` by 1 + e or by 1 − e,
  /// chosen at random. `result` is a result of `op`, and `type` is the tensor
  /// type of this result in the IR. The number e is the largest relative error
  /// of one rounding. There are two cases:
  ///
  ///  - If the simulation computes in f64, e is 2^-53.
  ///  - If the simulation rounds each result to its element type, e is the
  ///    error of this element type, such as 2^-8 for bf16.
  ///
  /// Changes only tensors of floats. Changes only the results of two classes of
  /// ops: ops that sum products (such as a matrix multiplication), and ops that
  /// combine all elements along a dim (such as a softmax).
  void apply(mlir::Operation *op, mlir::Type type, graph::HostTensor &result);

private:
  graph::Numerics numerics;
  std::mt19937_64 random;
};

} // namespace pcc::interpret

#endif // PCC_PASSES_INTERPRET_SIMULATE_RANDOMROUNDING_H
