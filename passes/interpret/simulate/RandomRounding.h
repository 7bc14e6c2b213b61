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

  /// Multiplies each element of `result`, a result of `op`, by 1 + e or 1 − e
  /// at random. The number e is the largest relative error of one rounding.
  /// Changes only floats, and only results of sums of products, such as a
  /// matmul, or of ops along a row, such as a softmax.
  void apply(mlir::Operation *op, mlir::Type type, graph::HostTensor &result);

  /// Simulates the rounding of the partial sums of an op that sums, such as a
  /// matmul. Adds random errors to the operands and not to the result. An error
  /// in proportion to the result would be too small: in 1000 + 1 − 1000, the
  /// partial sum 1001 is rounded, but the result is 1. Points `operands` to the
  /// returned copies, which the caller must keep.
  std::vector<graph::HostTensor>
  applyToTerms(mlir::Operation *op,
               llvm::MutableArrayRef<const graph::HostTensor *> operands);

private:
  /// Multiplies each element of `tensor` by 1 + e or 1 − e at random. The
  /// number e is the largest relative error of one rounding. If the simulation
  /// rounds to the types of the model, e depends on the element type in `type`,
  /// such as 2^-8 for bf16. If the simulation computes in f64, e is 2^-53.
  void change(mlir::Type type, graph::HostTensor &tensor);

  graph::Numerics numerics;
  std::mt19937_64 random;
};

} // namespace pcc::interpret

#endif // PCC_PASSES_INTERPRET_SIMULATE_RANDOMROUNDING_H
