//===- RandomRounding.h - Monte Carlo arithmetic for one rank -------------===//

#ifndef PCC_PASSES_INTERPRET_SIMULATE_RANDOMROUNDING_H
#define PCC_PASSES_INTERPRET_SIMULATE_RANDOMROUNDING_H

#include "dialects/graph/reference/Evaluator.h"

#include <random>

namespace pcc::interpret {

/// Returns the largest relative error of a rounding to `type`; 0 if `type` is
/// no float.
double roundingOf(mlir::Type type);

/// Returns whether the result of `op` is a sum of elements of its operands, or
/// of products of their elements. Examples: a matrix multiplication and the
/// mean of a row.
bool addsTerms(mlir::Operation *op);

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

  /// Simulates the rounding errors of the partial sums that `op` computes. If
  /// addsTerms(op) is true, the result of `op` is a sum of elements of the
  /// operands or of products of such elements. In this case, the function
  /// multiplies each element of each float operand by 1 + e or by 1 − e, chosen
  /// at random. The number e is the largest relative error of one rounding,
  /// such as 2^-8 for bf16. If addsTerms(op) is false, the function changes no
  /// operand.
  ///
  /// A partial sum can be much larger than the whole sum. Example: e is 2^-8,
  /// and `op` computes the sum 1000 + 1 − 1000, which is 1. The partial sum
  /// 1000 + 1 is 1001, and its rounding error can be 1001 · 2^-8, which is
  /// about 4. A random error of the whole sum would be only 1 · 2^-8, which is
  /// much too small. A random error of the operand 1000 is 1000 · 2^-8, which
  /// is also about 4.
  ///
  /// `operands` has a pointer to the tensor of each operand. The function does
  /// not write to these tensors. It copies each tensor of floats, changes the
  /// copy, and replaces the pointer in `operands` by a pointer to the copy. The
  /// function returns the copies. The caller must keep the returned copies
  /// while it uses `operands`.
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
