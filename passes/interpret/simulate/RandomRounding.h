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

  /// Simulates the rounding errors of partial sums. If the result of `op` is a
  /// sum of elements or of products of elements, as of a matmul or a reduce,
  /// multiplies each element of each float operand by 1 + e or 1 − e at random.
  /// The number e is the largest relative error of one rounding, such as 2^-8
  /// for bf16. An error of the result alone would be too small: in 1000 + 1 −
  /// 1000, the partial sum 1001 is rounded, but the result is 1. The function
  /// changes copies of the tensors, and sets the pointers in `operands` to the
  /// copies. It returns the copies, which the caller must keep while it uses
  /// `operands`.
  std::vector<graph::HostTensor>
  applyToTerms(mlir::Operation *op,
               llvm::MutableArrayRef<const graph::HostTensor *> operands);

private:
  /// Multiplies each element of `tensor` by 1 + e or by 1 − e. A random number
  /// generator selects one of the two factors for each element. `tensor` is a
  /// tensor of floats, and `type` is its tensor type in the IR, such as
  /// tensor<4x8xbf16>. The number e is the largest relative error of one
  /// rounding. There are two cases:
  ///
  ///  - If the simulation computes in f64, e is 2^-53.
  ///  - If the simulation rounds each result to its element type, e is the
  ///    error of the element type of `type`, such as 2^-8 for bf16.
  void change(mlir::Type type, graph::HostTensor &tensor);

  graph::Numerics numerics;
  std::mt19937_64 random;
};

} // namespace pcc::interpret

#endif // PCC_PASSES_INTERPRET_SIMULATE_RANDOMROUNDING_H
